package dev.larder.internal.protocol;

import java.time.Instant;

/**
 * Errors of one kind that the daemon has met.
 *
 * @param count how many
 * @param message what the last one said
 * @param trace where the first one came from
 */
public record ErrorRow(long count, Instant first, Instant last, String message, String trace) {
    /** Cuts texts that are too long for a message. */
    public ErrorRow {
        message = MessageText.cut(message, MessageText.MAX_BYTES);
        trace = MessageText.cut(trace, MessageText.MAX_BYTES);
    }

    /** Begins the message about a request that runs now and should be over. */
    public static final String LATE = "a request does not end, and others may wait for it";

    /** Returns whether this is about a request that runs now and should be over. */
    public boolean isLate() {
        return message.startsWith(LATE);
    }
}
