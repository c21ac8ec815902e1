package dev.larder.client;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.posix.RawMemory;
import dev.larder.internal.view.Targets;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A column of rows that are stored back to back in one array, with their offsets in another. The offsets are untrusted: they are checked
 * against the array's length before each read.
 */
abstract sealed class StoredColumn permits BytesColumn, RaggedColumn, StringsColumn {
    /** The dataset of this column. */
    final Dataset dataset;

    private final String column;
    private final ArrayView values;
    private final ArrayView offsets;
    private final long offsetsBase;
    private final long rows;
    private final long elements;
    private final int itemSize;

    StoredColumn(Dataset dataset, String column, ColumnPart values, ColumnPart offsets) {
        this.dataset = dataset;
        this.column = column;
        this.values = Columns.part(dataset, column, values);
        this.offsets = Columns.part(dataset, column, offsets);
        Columns.require(dataset, column, this.values, null, 1);
        Columns.require(dataset, column, this.offsets, "<i8", 1);
        Columns.require(this.offsets.rows() > 0, dataset, column, "offsets are empty");
        this.offsetsBase = this.offsets.base();
        this.rows = this.offsets.rows() - 1;
        this.elements = this.values.rows();
        this.itemSize = this.values.dtype().itemSize();
    }

    /** Returns the name of the column. */
    public String name() {
        return column;
    }

    /** Returns the number of rows. */
    public long rows() {
        return rows;
    }

    /** Returns the length of a row in bytes. */
    public long byteSize(long row) {
        return byteSize(row, begin(row));
    }

    /** Returns the position of a row's first byte among the bytes of all rows. */
    public long position(long row) {
        return begin(row) * itemSize;
    }

    private long byteSize(long row, long begin) {
        return (offset(row + 1, begin) - begin) * itemSize;
    }

    /** Returns whether the dataset of this column is open. */
    public boolean isOpen() {
        return values.isOpen();
    }

    ArrayView elements() {
        return values;
    }

    /** Returns a window on a row's bytes, without copying. */
    DirectBuffer window(long row) {
        ViewBuffer window = new ViewBuffer();
        window(row, Long.MAX_VALUE, window);
        return window;
    }

    /** Points a window at the first bytes of a row, at most {@code atMostBytes}. Allocates nothing. */
    void window(long row, long atMostBytes, ViewBuffer window) {
        long begin = begin(row);
        int length = length(row, begin, atMostBytes);
        values.requireOpen();
        window.point(values, values.base() + begin * itemSize, length);
    }

    /** Copies a row to {@code targetOffset} and returns its length in bytes. Allocates nothing. */
    public int copy(long row, MutableDirectBuffer target, int targetOffset) {
        return copy(row, Long.MAX_VALUE, target, targetOffset);
    }

    /**
     * Copies the first bytes of a row, at most {@code atMostBytes}, to {@code targetOffset} and returns their number. Allocates
     * nothing.
     */
    public int copy(long row, long atMostBytes, MutableDirectBuffer target, int targetOffset) {
        long begin = begin(row);
        int length = length(row, begin, atMostBytes);
        Targets.requireWritable(target, targetOffset, length);
        Targets.copy(values.base() + begin * itemSize, target, targetOffset, length);
        values.requireOpen();
        return length;
    }

    /** Returns a row's bytes on the heap. */
    byte[] bytes(long row) {
        long begin = begin(row);
        byte[] bytes = new byte[length(row, begin, Long.MAX_VALUE)];
        Targets.copy(values.base() + begin * itemSize, new UnsafeBuffer(bytes), 0, bytes.length);
        values.requireOpen();
        return bytes;
    }

    private int length(long row, long begin, long atMostBytes) {
        long length = Math.min(Math.max(0, atMostBytes), byteSize(row, begin));
        if (length > Integer.MAX_VALUE) {
            throw new UnsupportedOperationException("row is longer than a DirectBuffer can be: column=" + column
                    + " row=" + row + " bytes=" + length + " limit=" + Integer.MAX_VALUE);
        }
        return (int) length;
    }

    /** Returns the index among the values of a row's first element. */
    long begin(long row) {
        Objects.checkIndex(row, rows);
        return offset(row, 0);
    }

    private long offset(long number, long least) {
        long offset = RawMemory.getLong(offsetsBase + number * Long.BYTES);
        offsets.requireOpen();
        if (offset < least || offset > elements) {
            throw Columns.damaged(dataset, column, "offset " + number + " is " + offset + " of " + elements);
        }
        return offset;
    }
}
