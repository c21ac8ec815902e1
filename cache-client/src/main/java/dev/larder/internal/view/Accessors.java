package dev.larder.internal.view;

import dev.larder.npy.Dtype;

/** Names the methods of a view that read the elements of a dtype. */
public final class Accessors {
    private Accessors() {}

    /** Returns the exception for a method that cannot read the dtype of an array. */
    public static UnsupportedOperationException refusal(String method, String array, Dtype dtype) {
        return new UnsupportedOperationException(method + " does not read elements of this dtype: array=" + array
                + " dtype=" + dtype + "; use " + methods(dtype));
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
