package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.HugePages;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.posix.RawMemory;
import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;

/** The pages of a version on a tmpfs. Files with holes are left out: a huge page would fill holes with memory that is not reserved. */
final class StoredPages implements VersionPages {
    /** The most that is mapped at a time to be counted. More would fill page tables in vain. */
    private static final long MOST_PIECES_MAPPED = 128;

    private static final int MOST_FILES_MAPPED = 64;

    private final Posix posix;

    /** Held while a file is open: if it were removed meanwhile, its memory would not be freed although a load may count on it. */
    private final Lock open;

    private final BulkIo io = BulkIo.system();

    /** The files, by the number of their first piece. */
    private final TreeMap<Long, Path> files = new TreeMap<>();

    private final long pieces;

    StoredPages(Posix posix, Lock open, PublishedVersion version) {
        this.posix = posix;
        this.open = open;
        long count = 0;
        for (Map.Entry<String, Long> file : lengths(version).entrySet()) {
            Path path = version.folder().resolve(file.getKey());
            if (file.getValue() >= PIECE_BYTES && !hasHoles(path)) {
                files.put(count, path);
                count += file.getValue() / PIECE_BYTES;
            }
        }
        this.pieces = count;
    }

    /** Returns the end of the last array of each file. */
    private static Map<String, Long> lengths(PublishedVersion version) {
        Map<String, Long> lengths = new HashMap<>();
        for (ArrayEntry array : version.arrays()) {
            if (!SegmentFile.isOutside(array.file())) {
                lengths.merge(array.file(), ByteSums.add(array.offset(), array.byteSize()), Math::max);
            }
        }
        return lengths;
    }

    private boolean hasHoles(Path file) {
        return withFile(file, true, descriptor -> {
            FileStatus status = posix.status(descriptor);
            return status.storedBytes() < status.byteSize();
        });
    }

    @Override
    public long pieces() {
        return pieces;
    }

    @Override
    public boolean collapse(long piece) {
        Map.Entry<Long, Path> file = files.floorEntry(piece);
        return withFile(file.getValue(), false, descriptor -> {
            long address = posix.mapReadOnly(descriptor, (piece - file.getKey()) * PIECE_BYTES, PIECE_BYTES);
            try {
                return io.collapse(address, PIECE_BYTES);
            } finally {
                posix.unmap(address, PIECE_BYTES);
            }
        });
    }

    /** A mapped range of a file. */
    private record Mapped(long address, long byteSize) {}

    @Override
    public long hugePieces(BooleanSupplier mayContinue) {
        long huge = 0;
        for (long next = 0; next < pieces && mayContinue.getAsBoolean(); ) {
            List<Mapped> mapped = new ArrayList<>();
            open.lock();
            try {
                long end = Math.min(pieces, next + MOST_PIECES_MAPPED);
                while (next < end && mapped.size() < MOST_FILES_MAPPED) {
                    next = map(next, end, mapped);
                }
                huge += HugePages.mappedBytes(
                                mapped.stream().map(Mapped::address).toList())
                        / PIECE_BYTES;
            } finally {
                mapped.forEach(each -> posix.unmap(each.address(), each.byteSize()));
                open.unlock();
            }
        }
        return huge;
    }

    /**
     * Maps the part of some pieces that is in one file, and touches each piece, so that the kernel maps a huge page as a whole. Returns the
     * first piece after it.
     */
    private long map(long first, long end, List<Mapped> mapped) {
        Map.Entry<Long, Path> file = files.floorEntry(first);
        Long nextFile = files.higherKey(first);
        long after = nextFile == null ? end : Math.min(end, nextFile);
        long offset = (first - file.getKey()) * PIECE_BYTES;
        long byteSize = (after - first) * PIECE_BYTES;
        withFile(file.getValue(), false, descriptor -> {
            long address = posix.mapReadOnly(descriptor, offset, byteSize);
            mapped.add(new Mapped(address, byteSize));
            for (long at = 0; at < byteSize; at += PIECE_BYTES) {
                RawMemory.getByte(address + at);
            }
            return true;
        });
        return after;
    }

    /** An action on an open file. */
    @FunctionalInterface
    private interface Step {
        boolean with(int descriptor);
    }

    /** Opens a file and runs {@code step}. Returns {@code ifGone} if the file is missing. */
    private boolean withFile(Path file, boolean ifGone, Step step) {
        open.lock();
        try {
            int descriptor = posix.openForReading(file);
            try {
                return step.with(descriptor);
            } finally {
                posix.close(descriptor);
            }
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NOT_FOUND) {
                throw e;
            }
            return ifGone;
        } finally {
            open.unlock();
        }
    }
}
