package dev.larder.client;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.posix.RawMemory;
import dev.larder.npy.Dtype;
import java.util.Objects;
import org.agrona.DirectBuffer;

/**
 * A column whose rows are arrays of one dtype and number of dimensions, each with its own shape, in C order. Thread-safe.
 * Methods throw {@link IllegalStateException} after the dataset is closed, and {@link IndexOutOfBoundsException} for a row or
 * dimension out of range.
 */
public final class RaggedColumn extends StoredColumn {
    private final ArrayView shapes;
    private final int dimensions;

    RaggedColumn(Dataset dataset, String column) {
        super(dataset, column, ColumnPart.RAGGED_VALUES, ColumnPart.RAGGED_OFFSETS);
        shapes = Columns.part(dataset, column, ColumnPart.RAGGED_SHAPES);
        Columns.require(dataset, column, shapes, "<i8", 2);
        Columns.require(shapes.rows() == rows(), dataset, column, "the numbers of shapes and rows differ");
        dimensions = Math.toIntExact(shapes.shape()[1]);
    }

    /** Returns the type of the elements. */
    public Dtype dtype() {
        return elements().dtype();
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
        Objects.checkIndex(row, rows());
        Objects.checkIndex(dimension, dimensions);
        long size = RawMemory.getLong(shapes.base() + (row * dimensions + dimension) * Long.BYTES);
        shapes.requireOpen();
        if (size < 0) {
            throw Columns.damaged(dataset, name(), "a dimension of row " + row + " is " + size);
        }
        return size;
    }

    /** Returns a window on a row's elements, without copying. Refuses a row above 2 GiB. */
    public DirectBuffer row(long row) {
        return window(row);
    }

    /** Points the caller's window at a row's elements, without copying. Allocates nothing. Refuses a row above 2 GiB. */
    public void row(long row, ViewBuffer window) {
        row(row, Long.MAX_VALUE, window);
    }

    /** Points a window at the first bytes of a row's elements, at most {@code atMostBytes}, without copying. Allocates nothing. */
    public void row(long row, long atMostBytes, ViewBuffer window) {
        window(row, atMostBytes, window);
    }

    /** Returns the elements of all rows, back to back: {@code getFloat(firstElement(row) + i)} reads element {@code i} of a row. */
    public ArrayView values() {
        return elements();
    }

    /** Returns the index among {@link #values} of a row's first element. */
    public long firstElement(long row) {
        return begin(row);
    }

    @Override
    public String toString() {
        return "RaggedColumn{" + name() + " " + dtype() + " rows=" + rows() + " dimensions=" + dimensions + "}";
    }
}
