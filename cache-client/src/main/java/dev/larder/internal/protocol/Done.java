package dev.larder.internal.protocol;

/**
 * Ends a request that succeeded.
 *
 * @param files files loaded, verified or freed
 * @param bytes bytes loaded, verified or freed
 * @param heldBytes bytes that are freed only when somebody who still reads them ends
 * @param holders who reads them, for people; empty where nobody does
 */
public record Done(long files, long bytes, long heldBytes, String holders, String message) implements Response {
    /** Cuts texts that are too long for a message. */
    public Done {
        holders = MessageText.cut(holders, MessageText.MAX_BYTES);
        message = MessageText.cut(message, MessageText.MAX_BYTES);
    }

    /** Nothing to count, nothing to say. */
    public static final Done NOTHING = new Done(0, 0, 0, "", "");

    /** Counts files and bytes. */
    public static Done of(long files, long bytes, String message) {
        return new Done(files, bytes, 0, "", message);
    }
}
