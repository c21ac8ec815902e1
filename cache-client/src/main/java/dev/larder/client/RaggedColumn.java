package dev.larder.client;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.posix.RawMemory;
import dev.larder.npy.Dtype;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A column whose rows are arrays of one dtype and number of dimensions, each with its own shape, in C order. Thread-safe.
 * Methods throw {@link IllegalStateException} after the dataset is closed, and {@link IndexOutOfBoundsException} for a row or
 * dimension out of range.
 */
public final class RaggedColumn {
    private final Dataset dataset;
    private final String name;
    private final RowExtents extents;
    private final ArrayView shapes;
    private final int dimensions;

    private RaggedColumn(Dataset dataset, String name, RowExtents extents, ArrayView shapes) {
        this.dataset = dataset;
        this.name = name;
        this.extents = extents;
        this.shapes = shapes;
        this.dimensions = Math.toIntExact(shapes.shape()[1]);
    }

    static RaggedColumn of(Dataset dataset, String column) {
        RowExtents extents = RowExtents.of(dataset, column, ColumnPart.RAGGED_VALUES, ColumnPart.RAGGED_OFFSETS);
        ArrayView shapes = Columns.part(dataset, column, ColumnPart.RAGGED_SHAPES);
        Columns.require(dataset, column, shapes, "<i8", 2);
        Columns.require(shapes.rows() == extents.rows(), dataset, column, "the numbers of shapes and rows differ");
        return new RaggedColumn(dataset, column, extents, shapes);
    }

    /** Returns the name of the column. */
    public String name() {
        return name;
    }

    /** Returns the type of the elements. */
    public Dtype dtype() {
        return extents.values().dtype();
    }

    /** Returns the number of rows. */
    public long rows() {
        return extents.rows();
    }

    /** Returns the number of dimensions of each row. */
    public int dimensions() {
        return dimensions;
    }

    /** Returns the shape of a row, as a new array. */
    public long[] shape(long row) {
        long[] shape = new long[dimensions];
        for (int i = 0; i < dimensions; i++) {
            shape[i] = dimension(row, i);
        }
        return shape;
    }

    /** Returns the size of one dimension of a row. Allocates nothing. */
    public long dimension(long row, int dimension) {
        Objects.checkIndex(row, extents.rows());
        Objects.checkIndex(dimension, dimensions);
        long size = RawMemory.getLong(shapes.base() + (row * dimensions + dimension) * Long.BYTES);
        shapes.requireOpen();
        if (size < 0) {
            throw Columns.damaged(dataset, name, "a dimension of row " + row + " is " + size);
        }
        return size;
    }

    /** Returns the length of a row in bytes. */
    public long byteSize(long row) {
        return extents.byteSize(row);
    }

    /** Returns a window on a row's elements, without copying. Refuses a row above 2 GiB. */
    public DirectBuffer row(long row) {
        return extents.window(row);
    }

    /** Points the caller's window at a row's elements, without copying. Allocates nothing. Refuses a row above 2 GiB. */
    public void row(long row, ViewBuffer window) {
        row(row, Long.MAX_VALUE, window);
    }

    /** Points a window at the first bytes of a row's elements, at most {@code atMostBytes}, without copying. Allocates nothing. */
    public void row(long row, long atMostBytes, ViewBuffer window) {
        extents.window(row, atMostBytes, window);
    }

    /** Copies a row's elements to {@code targetOffset} and returns their length in bytes. Allocates nothing. */
    public int copy(long row, MutableDirectBuffer target, int targetOffset) {
        return extents.copy(row, target, targetOffset);
    }

    /**
     * Copies the first bytes of a row's elements, at most {@code atMostBytes}, to {@code targetOffset} and returns their
     * number. Allocates nothing.
     */
    public int copy(long row, long atMostBytes, MutableDirectBuffer target, int targetOffset) {
        return extents.copy(row, atMostBytes, target, targetOffset);
    }

    /** Returns the elements of all rows, back to back: {@code getFloat(firstElement(row) + i)} reads element {@code i} of a row. */
    public ArrayView values() {
        return extents.values();
    }

    /** Returns the index among {@link #values} of a row's first element. */
    public long firstElement(long row) {
        return extents.begin(row);
    }

    /** Returns whether the dataset of this column is open. */
    public boolean isOpen() {
        return extents.isOpen();
    }

    @Override
    public String toString() {
        return "RaggedColumn{" + name + " " + dtype() + " rows=" + rows() + " dimensions=" + dimensions + "}";
    }
}
