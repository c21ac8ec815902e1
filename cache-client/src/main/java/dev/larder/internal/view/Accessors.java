package dev.larder.internal.view;

import dev.larder.npy.Dtype;
import java.util.Arrays;

/** Creates the exceptions of methods that read an element. */
public final class Accessors {
    private Accessors() {}

    /** Returns the exception for a method that cannot read the dtype of an array. */
    public static UnsupportedOperationException refusal(String method, String array, Dtype dtype) {
        return new UnsupportedOperationException(method + " does not read elements of this dtype: array=" + array
                + " dtype=" + dtype + "; use " + methods(dtype));
    }

    /** Returns the exception for indices of an element that an array of this shape does not have. */
    public static RuntimeException wrongIndices(String array, long[] shape, long... index) {
        return index.length == shape.length
                ? new IndexOutOfBoundsException("index is out of range: array=" + array + " index="
                        + Arrays.toString(index) + " shape=" + Arrays.toString(shape))
                : new IllegalArgumentException("wrong number of indices: array=" + array + " given=" + index.length
                        + " dimensions=" + shape.length + " shape=" + Arrays.toString(shape));
    }

    private static String methods(Dtype dtype) {
        return switch (dtype.kind()) {
            case BOOL, INT, UINT -> "getInt or getLong";
            case TIMEDELTA -> "getLong";
            case FLOAT -> dtype.itemSize() > Double.BYTES ? "row or byteBuffer for its bytes" : "getFloat or getDouble";
            case COMPLEX ->
                dtype.itemSize() > 2 * Double.BYTES ? "row or byteBuffer for its bytes" : "getReal and getImaginary";
            case DATETIME -> "getInstant or getLong";
            case BYTES, UNICODE -> "getString";
            case VOID, STRUCT -> "row or byteBuffer for its bytes";
        };
    }
}
