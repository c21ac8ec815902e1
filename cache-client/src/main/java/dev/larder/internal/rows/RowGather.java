package dev.larder.internal.rows;

import dev.larder.internal.posix.RawMemory;
import org.jspecify.annotations.Nullable;

/**
 * Copies rows of an array whose rows lie in one piece: the hot path of random reading.
 *
 * <p>Touches a group of rows before it copies them. The misses of cache and TLB of such a group overlap, because nothing
 * stands between the reads. Misses of copies wait for each other: only few fit into what the processor looks ahead
 * (decision 37).
 */
public final class RowGather {
    /** How much of an array a group covers. */
    private static final int GROUP_BYTES = 32 << 10;

    private static final int LINE_BYTES = 64;

    /**
     * Up to so many cache lines of a row are all touched; of a longer row the first: the processor reads on by itself. Of windows, which begin
     * anywhere, both ends, as most end on another page.
     */
    private static final int MAX_LINES = 4;

    private final String array;
    private final long base;
    private final long rowCount;
    private final long length;

    /** From one row to the next: less than a row where rows overlap. */
    private final long stride;

    /** Prepares to copy rows that begin at {@code base} and lie one behind the other. */
    public RowGather(String array, long base, long rowCount, long rowByteSize) {
        this(array, base, rowCount, rowByteSize, rowByteSize);
    }

    /** Prepares to copy rows of which the first begins at {@code base}, and each other one {@code stride} bytes after the one before. */
    public RowGather(String array, long base, long rowCount, long rowByteSize, long stride) {
        this.array = array;
        this.base = base;
        this.rowCount = rowCount;
        this.length = rowByteSize;
        this.stride = stride;
    }

    /** Copies rows of at least a byte each to consecutive places; {@code target} and {@code to} as in {@link RawMemory#copy}. */
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
        if (touched < 0) { // never; it keeps the compiler from dropping the reads
            throw new IllegalStateException("negative sum of unsigned bytes");
        }
    }

    /** Reads bytes of rows and returns their sum. Each length has a loop of its own, with nothing but its reads. */
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

    /** Returns a row index that was read once and is within range, whatever others write there. */
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
