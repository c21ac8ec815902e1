package dev.larder.client;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.posix.RawMemory;
import dev.larder.npy.Dtype;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A column whose rows are arrays of one dtype and number of dimensions, each of its own shape, in C order. All methods may be
 * called from any thread; after its dataset is closed they throw {@link IllegalStateException}, rows and dimensions out of range
 * are {@link IndexOutOfBoundsException}.
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

    /** Returns how many rows there are. */
    public long rows() {
        return extents.rows();
    }

    /** Returns how many dimensions each row has. */
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

    /** Returns one dimension of a row. Allocates nothing. */
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

    /** Returns a window on a row's elements, without copying; one above 2 GiB is refused. */
    public DirectBuffer row(long row) {
        return extents.window(row);
    }

    /** Points a window of the caller's at a row's elements, without copying; one above 2 GiB is refused. Allocates nothing. */
    public void row(long row, ViewBuffer window) {
        row(row, Long.MAX_VALUE, window);
    }

    /** Points a window at the start of a row's elements, at most so many bytes, without copying. Allocates nothing. */
    public void row(long row, long atMostBytes, ViewBuffer window) {
        extents.window(row, atMostBytes, window);
    }

    /** Copies a row's elements to {@code targetOffset} and returns their length in bytes. Allocates nothing. */
    public int copy(long row, MutableDirectBuffer target, int targetOffset) {
        return extents.copy(row, target, targetOffset);
    }

    /**
     * Copies the start of a row's elements, at most so many bytes, to {@code targetOffset} and returns how many were copied.
     * Allocates nothing.
     */
    public int copy(long row, long atMostBytes, MutableDirectBuffer target, int targetOffset) {
        return extents.copy(row, atMostBytes, target, targetOffset);
    }

    /** Returns the elements of all rows, one after the other: {@code getFloat(firstElement(row) + i)} reads one of a row. */
    public ArrayView values() {
        return extents.values();
    }

    /** Returns where a row begins among {@link #values}, in elements. */
    public long firstElement(long row) {
        return extents.begin(row);
    }

    /** Tells whether the column can be read: its dataset is open. */
    public boolean isOpen() {
        return extents.isOpen();
    }

    @Override
    public String toString() {
        return "RaggedColumn{" + name + " " + dtype() + " rows=" + rows() + " dimensions=" + dimensions + "}";
    }
}
