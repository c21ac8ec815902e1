package dev.larder.internal.protocol;

/**
 * The end of a successful request.
 *
 * @param files number of files loaded, verified or freed
 * @param bytes number of bytes loaded, verified or freed
 * @param heldBytes number of bytes that are freed only when their last reader ends
 * @param holders the readers, for people; empty if there are none
 */
public record Done(long files, long bytes, long heldBytes, String holders, String message) implements Response {
    /** Truncates texts that are too long for a message. */
    public Done {
        holders = MessageText.cut(holders, MessageText.MAX_BYTES);
        message = MessageText.cut(message, MessageText.MAX_BYTES);
    }

    /** A result without numbers or text. */
    public static final Done NOTHING = new Done(0, 0, 0, "", "");

    /** Returns a result with numbers of files and bytes. */
    public static Done of(long files, long bytes, String message) {
        return new Done(files, bytes, 0, "", message);
    }
}
