package dev.larder.internal.column;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Builds a ragged column: its rows have one dtype and number of dimensions, and each has its own shape. */
public final class RaggedBuilder extends ColumnBuilder {
    private final Dtype dtype;
    private final RowShapes shapes;
    private final NativeBytes values = new NativeBytes(ColumnMemory.anonymous());

    /** Starts a column of rows with this number of dimensions. */
    public RaggedBuilder(Dtype dtype, int dimensions) {
        this.dtype = dtype;
        this.shapes = new RowShapes(dimensions);
    }

    /**
     * Adds the elements that remain in a buffer as a row, in C order and in the byte order of the dtype. Fails with
     * {@link ErrorCode#BAD_INPUT} if their number does not match the shape.
     */
    public void add(ByteBuffer row, long... shape) {
        long expected = dtype.itemSize();
        for (long dimension : shape) {
            expected = Math.multiplyExact(expected, dimension);
        }
        if (row.remaining() != expected) {
            throw Failure.of(ErrorCode.BAD_INPUT, "row has the wrong length")
                    .with("row", size())
                    .with("bytes", row.remaining())
                    .with("expected", expected)
                    .with("shape", Arrays.toString(shape))
                    .remedy("give as many bytes as shape and dtype say");
        }
        shapes.add(shape);
        values.append(row);
    }

    @Override
    public long size() {
        return shapes.size();
    }

    @Override
    public List<ColumnArray> arrays(String column) {
        List<ColumnArray> arrays = new ArrayList<>();
        arrays.add(ColumnArray.of(column, ColumnPart.RAGGED_VALUES, dtype, values, shapes.elements()));
        arrays.addAll(shapes.arrays(column));
        return List.copyOf(arrays);
    }

    @Override
    public void close() {
        shapes.close();
        values.close();
    }
}
