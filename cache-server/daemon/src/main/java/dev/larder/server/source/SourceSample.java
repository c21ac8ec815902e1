package dev.larder.server.source;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.Digest;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * Hashes samples of a file to a few hex digits: its length, its first and last block, and blocks evenly spaced between. Files of up to 64 KiB are
 * read whole. Changes between the blocks of a longer file go unnoticed.
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
        MessageDigest digest = Digest.sha256();
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

    /** Returns the offset of a block: the first at the start, the last at the end, all others at multiples of their length. */
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

    /** Hashes a block, or the rest of it if the file has become shorter, which gives another hash. */
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
}
