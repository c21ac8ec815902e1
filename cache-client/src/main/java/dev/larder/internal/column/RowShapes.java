package dev.larder.internal.column;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import java.util.Arrays;
import java.util.List;

/** Builds offsets and shapes of a ragged column whose values are stored elsewhere, such as in files of arrays. */
public final class RowShapes extends ColumnBuilder {
    private final int dimensions;
    private final RowOffsets offsets;
    private final NativeBytes shapes;

    /** Starts a column of rows with this number of dimensions, in anonymous memory. */
    public RowShapes(int dimensions) {
        this(dimensions, ColumnMemory.anonymous());
    }

    /** Starts a column of rows with this number of dimensions, in memory that the caller closes later. */
    public RowShapes(int dimensions, ColumnMemory memory) {
        if (dimensions < 0) {
            throw new IllegalArgumentException("dimensions=" + dimensions);
        }
        this.dimensions = dimensions;
        this.offsets = new RowOffsets(ColumnPart.RAGGED_OFFSETS, memory);
        this.shapes = new NativeBytes(memory);
    }

    /** Adds a row. Fails with {@link ErrorCode#BAD_INPUT} if it has a different number of dimensions. */
    public void add(long... shape) {
        if (shape.length != dimensions) {
            throw Failure.of(ErrorCode.BAD_INPUT, "row has another number of dimensions")
                    .with("row", size())
                    .with("shape", Arrays.toString(shape))
                    .with("expectedDimensions", dimensions)
                    .remedy("give all rows of a column the same number of dimensions");
        }
        long elements = 1;
        for (long dimension : shape) {
            if (dimension < 0) {
                throw new IllegalArgumentException("shape=" + Arrays.toString(shape));
            }
            elements = Math.multiplyExact(elements, dimension);
        }
        offsets.add(elements);
        for (long dimension : shape) {
            shapes.appendLong(dimension);
        }
    }

    /** Returns the total number of elements. */
    public long elements() {
        return offsets.elements();
    }

    @Override
    public long size() {
        return offsets.size();
    }

    @Override
    public List<ColumnArray> arrays(String column) {
        return List.of(
                offsets.arrays(column).get(0),
                ColumnArray.of(column, ColumnPart.RAGGED_SHAPES, "<i8", shapes, size(), dimensions));
    }

    @Override
    public void close() {
        offsets.close();
        shapes.close();
    }
}
