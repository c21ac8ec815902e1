package dev.larder.server.source;

import dev.larder.error.LarderException;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Condenses a file into a few hex digits without reading much of it: its length, its first and last block, and blocks evenly
 * spaced between. Files of up to 64 KiB are read whole. What changes only between the blocks of a longer file is not seen.
 */
public final class SourceSample {
    private static final int BLOCK_BYTES = 4096;
    private static final int BLOCKS = 16;
    private static final int KEPT_BYTES = 8;

    /** One direct buffer for each reading thread: they are few. */
    private static final ThreadLocal<ByteBuffer> STEP =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(BLOCKS * BLOCK_BYTES));

    private SourceSample() {}

    /** Reads the samples of a file that was as long as this when it was checked. */
    public static String of(SourceIdentity file) {
        long length = file.byteSize();
        MessageDigest digest = sha256();
        digest.update(ByteBuffer.allocate(Long.BYTES).putLong(0, length));
        int descriptor = open(file);
        try {
            if (length <= (long) BLOCKS * BLOCK_BYTES) {
                update(digest, descriptor, 0, (int) length);
            } else {
                for (int block = 0; block < BLOCKS; block++) {
                    update(digest, descriptor, start(block, length), BLOCK_BYTES);
                }
            }
        } catch (LarderException e) {
            throw Refusal.of(file.file(), 0, "it cannot be read (" + e.getMessage() + ")");
        } finally {
            Posix.system().close(descriptor);
        }
        return HexFormat.of().formatHex(digest.digest(), 0, KEPT_BYTES);
    }

    /** Returns where a block starts: the first at the start, the last at the end, all others at multiples of their length. */
    private static long start(int block, long length) {
        long last = length - BLOCK_BYTES;
        return block == BLOCKS - 1 ? last : last / (BLOCKS - 1) * block / BLOCK_BYTES * BLOCK_BYTES;
    }

    private static int open(SourceIdentity file) {
        try {
            return BulkIo.system().openWithoutWaiting(file.file());
        } catch (LarderException e) {
            throw Refusal.of(file.file(), 0, "it cannot be opened (" + e.getMessage() + ")");
        }
    }

    /** Reads a block; of a file that has become shorter what there is, which gives another hash. */
    private static void update(MessageDigest digest, int descriptor, long offset, int length) {
        ByteBuffer block = STEP.get().clear();
        int read = 0;
        while (read < length) {
            long count = BulkIo.system().read(descriptor, offset + read, block, read, length - read);
            if (count == 0) {
                break;
            }
            read += (int) count;
        }
        digest.update(block.limit(read));
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
