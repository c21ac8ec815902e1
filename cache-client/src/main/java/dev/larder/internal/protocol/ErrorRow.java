package dev.larder.internal.protocol;

import java.time.Instant;

/**
 * Errors of one kind in the daemon.
 *
 * @param count their number
 * @param message the message of the last one
 * @param trace the stack trace of the first one
 */
public record ErrorRow(long count, Instant first, Instant last, String message, String trace) {
    /** Truncates texts that are too long for a message. */
    public ErrorRow {
        message = MessageText.cut(message, MessageText.MAX_BYTES);
        trace = MessageText.cut(trace, MessageText.MAX_BYTES);
    }

    /** The beginning of the message about a running request that is overdue. */
    public static final String LATE = "a request does not end, and others may wait for it";

    /** Returns whether this is about a running request that is overdue. */
    public boolean isLate() {
        return message.startsWith(LATE);
    }
}
