package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.posix.Posix;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * A file of a version that is being written. Space is reserved piece by piece before it is written. Several threads may fill disjoint
 * ranges at the same time, each through its own {@link SegmentWriter}.
 *
 * <p>Owns a descriptor and, if it writes to huge pages, a mapping. Closing it releases both; no writer may be in use.
 */
public final class IncomingSegment implements AutoCloseable {
    private static final int WRITABLE = 0600;
    private static final long NOT_MAPPED = 0;

    private final Posix posix;
    private final BulkIo io = BulkIo.system();
    private final IncomingVersion version;
    private final Path path;
    private final long byteSize;
    private final WriteStrategy strategy;
    private final int descriptor;
    private final long address;
    private boolean open = true;

    private IncomingSegment(Posix posix, IncomingVersion version, Path path, long byteSize, WriteStrategy strategy) {
        this.posix = posix;
        this.version = version;
        this.path = path;
        this.byteSize = byteSize;
        WriteStrategy chosen = byteSize < PageSize.HUGE_BYTES && strategy == WriteStrategy.COLLAPSED
                ? WriteStrategy.BUFFERED
                : strategy;
        this.descriptor = posix.openOrCreate(path, WRITABLE);
        try {
            io.resize(descriptor, byteSize);
            this.address = chosen == WriteStrategy.BUFFERED ? NOT_MAPPED : map(chosen);
            this.strategy = address == NOT_MAPPED ? WriteStrategy.BUFFERED : chosen;
        } catch (RuntimeException | Error e) {
            posix.close(descriptor);
            throw e;
        }
    }

    /** Creates the file at its full length, without data. {@code byteSize} is positive. */
    static IncomingSegment create(
            Posix posix, IncomingVersion version, Path path, long byteSize, WriteStrategy strategy) {
        try {
            return new IncomingSegment(posix, version, path, byteSize, strategy);
        } catch (LarderException e) {
            throw explained(version, path, byteSize, 0, e);
        }
    }

    /**
     * Maps the file and advises huge pages for its whole 2 MiB pieces and small pages for the rest, so that it occupies no more than its
     * length. Returns {@code NOT_MAPPED} if the process can have no more mappings.
     */
    private long map(WriteStrategy chosen) {
        long start;
        try {
            start = io.mapWritable(descriptor, 0, byteSize);
        } catch (LarderException noMoreMappings) {
            return NOT_MAPPED;
        }
        if (chosen == WriteStrategy.COLLAPSED) {
            return start;
        }
        long huge = ByteSums.roundDown(byteSize, PageSize.HUGE_BYTES);
        if (huge > 0) {
            posix.adviseHugePages(start, huge);
        }
        if (huge < byteSize) {
            io.adviseSmallPages(start + huge, byteSize - huge);
        }
        return start;
    }

    ByteBuffer bufferOver(long memory, int length) {
        return posix.bufferOver(memory, length);
    }

    void requireNotCancelled() {
        version.requireNotCancelled();
    }

    /** Returns a writer for the bytes from {@code start} to {@code end}. */
    public SegmentWriter writer(long start, long end) {
        return writer(start, end, 0, 1);
    }

    /**
     * Returns one of several writers that a thread uses together.
     *
     * @param number its number, from 0
     * @param count how many there are
     */
    public SegmentWriter writer(long start, long end, int number, int count) {
        if (start < 0 || end < start || end > byteSize) {
            throw new IllegalArgumentException("start=" + start + " end=" + end + " byteSize=" + byteSize);
        }
        boolean isMapped = strategy == WriteStrategy.MAPPED
                || (strategy == WriteStrategy.COLLAPSED && version.mayAskForHugePages());
        return isMapped ? new MappedWriter(this, start, end) : new BufferedWriter(this, start, end, number, count);
    }

    /** Allocates the memory of a range of the mapping, and returns its address. */
    long populate(long offset, long length) {
        requireNotCancelled();
        try {
            if (strategy != WriteStrategy.COLLAPSED || !populateHuge(offset, length)) {
                io.populate(address + offset, length);
            }
            return address + offset;
        } catch (LarderException e) {
            throw explained(version, path, byteSize, offset, e);
        }
    }

    /**
     * Allocates a 2 MiB piece as one huge page, if range and piece have the same end. Returns false if the range ends within a piece,
     * because another thread fills the rest, or if the kernel refuses.
     */
    private boolean populateHuge(long offset, long length) {
        long piece = ByteSums.roundDown(offset, PageSize.HUGE_BYTES);
        if (offset + length != piece + PageSize.HUGE_BYTES || !version.mayAskForHugePages()) {
            return false;
        }
        boolean isHuge = io.populateHuge(address + piece);
        if (!isHuge) {
            version.noteRefusedHugePage();
        }
        return isHuge;
    }

    void reserve(long offset, long length) {
        requireNotCancelled();
        try {
            posix.reserve(descriptor, offset, length);
        } catch (LarderException e) {
            throw explained(version, path, byteSize, offset, e);
        }
    }

    void write(long offset, long from, long length) {
        try {
            io.write(descriptor, offset, from, length);
        } catch (LarderException e) {
            throw explained(version, path, byteSize, offset, e);
        }
    }

    private static LarderException explained(
            IncomingVersion version, Path path, long byteSize, long offset, LarderException cause) {
        if (cause.code() != ErrorCode.NO_SPACE) {
            return cause;
        }
        return Failure.of(ErrorCode.NO_SPACE, "the store's file system is full")
                .with("dataset", version.dataset())
                .with("file", path.getFileName())
                .with("needed", byteSize)
                .with("written", offset)
                .with("free", freeBytes(path))
                .with("reason", cause)
                .cause(cause)
                .remedy("another program used the space; " + Remedy.FREE_SPACE);
    }

    private static long freeBytes(Path path) {
        try {
            Path folder = path.getParent();
            return folder == null ? 0 : Posix.system().space(folder).freeBytes();
        } catch (LarderException e) {
            return 0;
        }
    }

    /** Sets the final permissions of the finished file. Nothing may be written afterwards. */
    public void seal() {
        posix.changeMode(descriptor, version.fileMode());
    }

    /** Closes the descriptor and the mapping; no writer may be in use. Idempotent. */
    @Override
    public synchronized void close() {
        if (!open) {
            return;
        }
        open = false;
        try {
            if (address != NOT_MAPPED) {
                posix.unmap(address, byteSize);
            }
        } finally {
            posix.close(descriptor);
        }
    }
}
