package dev.larder.server.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.function.LongPredicate;
import java.util.zip.CRC32C;

/** Computes the CRC32C of data, the checksum that a store records for each array. Thread-safe. */
public final class DataChecksum {
    private static final int STEP_BYTES = 256 << 10;

    /** One direct buffer for each reading thread; there are few. */
    private static final ThreadLocal<ByteBuffer> STEP =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(STEP_BYTES));

    private DataChecksum() {}

    /**
     * Adds the next {@code byteSize} bytes of a channel to a checksum.
     *
     * @param mayContinue receives the length of each step in bytes; returns false to stop
     * @return the number of bytes not read: 0, unless the data ends early or {@code mayContinue} returned false
     */
    public static long update(CRC32C crc, ReadableByteChannel data, long byteSize, LongPredicate mayContinue)
            throws IOException {
        ByteBuffer step = STEP.get();
        long left = byteSize;
        boolean continues = true;
        while (left > 0 && continues) {
            step.clear().limit((int) Math.min(STEP_BYTES, left));
            int count = data.read(step);
            if (count < 0) {
                return left;
            }
            crc.update(step.flip());
            left -= count;
            continues = mayContinue.test(count);
        }
        return left;
    }

    /** Adds part of a file to a checksum, as {@link #update(CRC32C, ReadableByteChannel, long, LongPredicate)} does. */
    public static long update(CRC32C crc, Path file, long offset, long byteSize, LongPredicate mayContinue)
            throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            return update(crc, channel.position(offset), byteSize, mayContinue);
        }
    }
}
