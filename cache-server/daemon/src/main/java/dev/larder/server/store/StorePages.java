package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.HugePages;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.posix.RawMemory;
import dev.larder.server.store.version.PublishedVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/**
 * The pages that published files lie on. Readers notice nothing but speed when their pages become huge.
 *
 * <p>A file is open here for one step at a time, and none is while {@link #undisturbed} runs: else memory that a removal has freed
 * would stay taken until the step ends.
 */
public final class StorePages {
    private final Posix posix;
    private final BulkIo io = BulkIo.system();

    StorePages(Posix posix) {
        this.posix = posix;
    }

    /** Runs what removes files. */
    synchronized void undisturbed(Removing removing) throws IOException {
        removing.run();
    }

    /** What removes files. */
    @FunctionalInterface
    interface Removing {
        void run() throws IOException;
    }

    /** Returns how many bytes of a version fill whole 2 MiB pieces of its files, and so can be on huge pages. */
    public static long wholePieces(PublishedVersion version) {
        return pieces(version).values().stream().mapToLong(bytes -> bytes).sum();
    }

    /**
     * Moves a version to huge pages, one 2 MiB piece after the other; one that is there already takes some microseconds. A file that the
     * kernel refuses several pieces of is left as it is.
     *
     * @param mayGoOn asked before each piece
     * @return false where it said no
     */
    public boolean collapse(PublishedVersion version, BooleanSupplier mayGoOn) {
        for (Map.Entry<Path, Long> file : pieces(version).entrySet()) {
            int refusals = 0;
            for (long at = 0; at < file.getValue() && refusals < HugePages.MOST_REFUSALS; at += PageSize.HUGE_BYTES) {
                if (!mayGoOn.getAsBoolean()) {
                    return false;
                }
                refusals += collapsePiece(file.getKey(), at) ? 0 : 1;
            }
        }
        return true;
    }

    private synchronized boolean collapsePiece(Path file, long offset) {
        return ofFile(file, false, (descriptor, status) -> {
            long address = posix.mapReadOnly(descriptor, offset, PageSize.HUGE_BYTES);
            try {
                return io.collapse(address, PageSize.HUGE_BYTES);
            } finally {
                posix.unmap(address, PageSize.HUGE_BYTES);
            }
        });
    }

    /** Returns how many bytes of a version are on huge pages. */
    public long hugeBytes(PublishedVersion version) {
        return pieces(version).keySet().stream().mapToLong(this::hugeBytes).sum();
    }

    /** Touches a byte of every piece, which maps a huge page whole, and asks the kernel how many it has mapped so. */
    private synchronized long hugeBytes(Path file) {
        return ofFile(file, 0L, (descriptor, status) -> {
            try (MappedMemory memory = MappedMemory.readOnly(posix, descriptor, status.byteSize())) {
                for (long at = 0; at < status.byteSize(); at += PageSize.HUGE_BYTES) {
                    RawMemory.getByte(memory.address() + at);
                }
                return HugePages.mappedBytes(memory.address());
            }
        });
    }

    /** What is done with an open file. */
    @FunctionalInterface
    private interface Step<T> {
        T with(int descriptor, FileStatus status);
    }

    /** Passes over what has left, and files with holes, whose pages are not reserved. */
    private <T> T ofFile(Path file, T otherwise, Step<T> step) {
        int descriptor;
        try {
            descriptor = posix.openForReading(file);
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NOT_FOUND) {
                throw e;
            }
            return otherwise;
        }
        try {
            FileStatus status = posix.status(descriptor);
            return status.storedBytes() < status.byteSize() ? otherwise : step.with(descriptor, status);
        } finally {
            posix.close(descriptor);
        }
    }

    /** Finds the files that a version has in the store, each with the length of its whole pieces; those without any are left out. */
    private static Map<Path, Long> pieces(PublishedVersion version) {
        Map<Path, Long> pieces = new TreeMap<>();
        for (ArrayEntry array : version.arrays()) {
            long bytes = ByteSums.roundDown(array.offset() + array.byteSize(), PageSize.HUGE_BYTES);
            if (bytes > 0 && !SegmentFile.isOutside(array.file())) {
                pieces.merge(version.folder().resolve(array.file()), bytes, Math::max);
            }
        }
        return pieces;
    }
}
