package dev.larder.server.source;

import java.nio.channels.ReadableByteChannel;

/** The bytes of an array: {@link Extents} of files, or bytes that a format writes into a channel. Thread-safe. */
public interface ArrayData {
    /**
     * Opens the data from the start. The channel gives exactly as many bytes as the array has, or fails with {@link
     * dev.larder.error.ErrorCode#BAD_INPUT}, at the latest with the last of them. The caller closes it.
     */
    ReadableByteChannel open();

    /** Opens the data as {@link #open} does, and may release the parts that have been read: it is not opened again. */
    default ReadableByteChannel openForLastTime() {
        return open();
    }

    /** Releases memory and temporary files; nothing can be opened afterwards. Idempotent. */
    default void release() {}
}
