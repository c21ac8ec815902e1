package dev.larder.internal.rows;

import dev.larder.internal.posix.RawMemory;
import org.jspecify.annotations.Nullable;

/**
 * Copies rows of an array with contiguous rows. This is the hot path of random reads.
 *
 * <p>It touches a group of rows before it copies them. The cache and TLB misses of such reads overlap, because nothing
 * separates them. The misses of copies do not, because only a few copies fit into the processor's reorder window (decision 37).
 */
public final class RowGather {
    /** Number of bytes in a group of rows. */
    private static final int GROUP_BYTES = 32 << 10;

    private static final int LINE_BYTES = 64;

    /**
     * The maximum number of cache lines of a row that are all touched. Of a longer row only the first is, because the processor
     * prefetches the next ones. Of a window both ends are, because most windows end on another page.
     */
    private static final int MAX_LINES = 4;

    private final String array;
    private final long base;
    private final long rowCount;
    private final long length;

    /** Distance in bytes between row starts; less than a row if rows overlap. */
    private final long stride;

    /** Prepares to copy adjacent rows that begin at {@code base}. */
    public RowGather(String array, long base, long rowCount, long rowByteSize) {
        this(array, base, rowCount, rowByteSize, rowByteSize);
    }

    /** Prepares to copy rows that begin at {@code base} and then every {@code stride} bytes. */
    public RowGather(String array, long base, long rowCount, long rowByteSize, long stride) {
        this.array = array;
        this.base = base;
        this.rowCount = rowCount;
        this.length = rowByteSize;
        this.stride = stride;
    }

    /** Copies rows of at least one byte each to consecutive addresses. {@code target} and {@code to} are as in {@link RawMemory#copy}. */
    public void copy(long[] rows, int first, int end, byte @Nullable [] target, long to) {
        int group = (int) Math.max(1, GROUP_BYTES / length);
        long touched = 0;
        long place = to;
        for (int i = first; i < end; ) {
            int groupEnd = i + Math.min(group, end - i);
            touched += touch(rows, i, groupEnd);
            for (; i < groupEnd; i++, place += length) {
                RawMemory.copy(base + checkedRow(rows, i) * stride, target, place, length);
            }
        }
        if (touched < 0) { // never true: it keeps the compiler from removing the reads
            throw new IllegalStateException("negative sum of unsigned bytes");
        }
    }

    /** Reads bytes of rows and returns their sum. Each row length has its own loop that contains only reads. */
    private long touch(long[] rows, int first, int end) {
        long sum = 0;
        if (stride != length) {
            for (int i = first; i < end; i++) {
                long address = base + checkedRow(rows, i) * stride;
                sum += RawMemory.getByte(address) & 0xff;
                sum += RawMemory.getByte(address + length - 1) & 0xff;
            }
        } else if (length <= LINE_BYTES || length > MAX_LINES * LINE_BYTES) {
            for (int i = first; i < end; i++) {
                sum += RawMemory.getByte(base + checkedRow(rows, i) * stride) & 0xff;
            }
        } else if (length > 2 * LINE_BYTES) {
            long quarter = length / 4;
            for (int i = first; i < end; i++) {
                long address = base + checkedRow(rows, i) * stride;
                sum += RawMemory.getByte(address) & 0xff;
                sum += RawMemory.getByte(address + quarter) & 0xff;
                sum += RawMemory.getByte(address + 2 * quarter) & 0xff;
                sum += RawMemory.getByte(address + 3 * quarter) & 0xff;
            }
        } else {
            for (int i = first; i < end; i++) {
                long address = base + checkedRow(rows, i) * stride;
                sum += RawMemory.getByte(address) & 0xff;
                sum += RawMemory.getByte(address + length - 1) & 0xff;
            }
        }
        return sum;
    }

    /** Returns a checked row index. Reads it only once, because another thread may change it. */
    public long checkedRow(long[] rows, int position) {
        long row = rows[position];
        if (row < 0 || row >= rowCount) {
            throw outOfRange(position, row);
        }
        return row;
    }

    private IndexOutOfBoundsException outOfRange(int position, long row) {
        return new IndexOutOfBoundsException(
                "row is out of range: array=" + array + " position=" + position + " row=" + row + " rows=" + rowCount);
    }
}
