package dev.larder.server.source;

import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where the bytes of an array come from. Thread-safe. */
public interface ArrayData {
    /**
     * Returns the stretches of files that, one after the other, are the array's bytes, for readers that jump; empty if they have
     * to be unpacked or computed.
     */
    List<FileRegion> regions();

    /** Returns the file that a region lies in, as it was when it was checked; null if only the array has its files. */
    default @Nullable SourceIdentity identityOf(int region) {
        return null;
    }

    /**
     * Fails with a refusal where the file of a region does not begin as it has to, which a scan may leave to whoever copies the data.
     *
     * @param first the first bytes of the region, one at least
     */
    default void requireBeginning(int region, ByteBuffer first) {}

    /**
     * Opens the data from the start: exactly as many bytes as the array has, or a {@link dev.larder.error.ErrorCode#BAD_INPUT}
     * failure while they are read, at the latest with the last of them. The caller closes the channel.
     */
    ReadableByteChannel open();

    /** Opens the data as {@link #open} does, and may give up what has been read: it is not opened again. */
    default ReadableByteChannel openForLastTime() {
        return open();
    }

    /** Gives up what has been kept for reading, such as temporary files; nothing can be opened afterwards. Idempotent. */
    default void release() {}
}
