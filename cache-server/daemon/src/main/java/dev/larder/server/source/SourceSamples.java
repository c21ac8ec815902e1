package dev.larder.server.source;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.Digest;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The samples of files, as a few hex digits each: a hash of the length, the first and last block, and blocks evenly spaced between. Files of up to
 * 64 KiB are read whole. Changes between the blocks of a longer file go unnoticed. Thread-safe.
 */
public final class SourceSamples {
    /** Longest file that a scan reads whole to look at its beginning. */
    public static final int SMALL_FILE_BYTES = 8192;

    private static final int BLOCK_BYTES = 4096;
    private static final int BLOCKS = 16;
    private static final int KEPT_BYTES = 8;

    /** One direct buffer for each reading thread: they are few. */
    private static final ThreadLocal<ByteBuffer> STEP =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(BLOCKS * BLOCK_BYTES));

    private final Map<Path, String> byFile = new ConcurrentHashMap<>();

    /** Adds the sample of a small file. */
    public void add(SourceIdentity file, byte[] content) {
        MessageDigest digest = digest(content.length);
        digest.update(content);
        byFile.put(file.file(), text(digest));
    }

    /** Reads the samples of files that have none yet, several files in parallel. */
    public void read(Collection<SourceIdentity> files, int workers) {
        Map<Path, SourceIdentity> unread = new HashMap<>();
        for (SourceIdentity file : files) {
            if (!byFile.containsKey(file.file())) {
                unread.put(file.file(), file);
            }
        }
        Parallel.forEach(List.copyOf(unread.values()), workers, file -> byFile.put(file.file(), read(file)));
    }

    /** Returns the sample of a file; empty if it has none. */
    public String of(Path file) {
        return byFile.getOrDefault(file, "");
    }

    /** Reads the sample of a file that was as long as this when it was checked. */
    public static String read(SourceIdentity file) {
        long length = file.byteSize();
        MessageDigest digest = digest(length);
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
        return text(digest);
    }

    private static MessageDigest digest(long length) {
        MessageDigest digest = Digest.sha256();
        digest.update(ByteBuffer.allocate(Long.BYTES).putLong(0, length));
        return digest;
    }

    private static String text(MessageDigest digest) {
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
