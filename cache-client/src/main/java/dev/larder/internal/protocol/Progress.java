package dev.larder.internal.protocol;

/**
 * Tells how far the daemon is with a request. Totals are {@link #UNKNOWN} until the sources have been scanned.
 *
 * @param name what is being worked on; empty for all of it
 */
public record Progress(
        Phase phase, String name, long bytesDone, long bytesTotal, long filesDone, long filesTotal, String message)
        implements Response {

    /** Cuts texts that are too long for a message. */
    public Progress {
        name = MessageText.cut(name, 1024);
        message = MessageText.cut(message, MessageText.MAX_BYTES);
    }

    /** A total that is not known yet. */
    public static final long UNKNOWN = -1;

    /** What the daemon is doing. */
    public enum Phase {
        /** Waiting for its turn, or for somebody else's load. */
        WAITING,
        /** Finding and checking sources. */
        SCANNING,
        /** Bringing bytes in. */
        LOADING,
        /** Making versions visible. */
        PUBLISHING,
        /** Computing checksums again. */
        VERIFYING,
        /** Unlinking files. */
        REMOVING,
        /** Something that only a later version has a word for. */
        OTHER
    }

    /** Reports a phase without numbers. */
    public static Progress of(Phase phase, String name, String message) {
        return new Progress(phase, name, 0, UNKNOWN, 0, UNKNOWN, message);
    }
}
