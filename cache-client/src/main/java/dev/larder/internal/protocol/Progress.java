package dev.larder.internal.protocol;

/**
 * The progress of a request in the daemon. Totals are {@link #UNKNOWN} until the sources have been scanned.
 *
 * @param name the current dataset or array; empty for the whole request
 */
public record Progress(
        Phase phase, String name, long bytesDone, long bytesTotal, long filesDone, long filesTotal, String message)
        implements Response {

    /** Truncates texts that are too long for a message. */
    public Progress {
        name = MessageText.cut(name, 1024);
        message = MessageText.cut(message, MessageText.MAX_BYTES);
    }

    /** A total that is not known yet. */
    public static final long UNKNOWN = -1;

    /** The current work of the daemon. */
    public enum Phase {
        /** Waiting for its turn, or for another load of the same dataset. */
        WAITING,
        /** Finding and checking sources. */
        SCANNING,
        /** Copying data into the store. */
        LOADING,
        /** Making versions visible. */
        PUBLISHING,
        /** Computing checksums again. */
        VERIFYING,
        /** Unlinking files. */
        REMOVING,
        /** A phase of a newer release. */
        OTHER
    }

    /** Reports a phase without numbers. */
    public static Progress of(Phase phase, String name, String message) {
        return new Progress(phase, name, 0, UNKNOWN, 0, UNKNOWN, message);
    }
}
