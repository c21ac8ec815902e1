package dev.larder.djl;

import ai.djl.ndarray.types.DataType;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.npy.Dtype;

/**
 * Finds DJL's names for the types of elements.
 *
 * <p>DJL has names for more of them, but its PyTorch engine ends the whole process when it is handed 16-bit or unsigned integers,
 * and takes complex numbers for floats: these are refused here, before it sees them.
 */
final class DjlTypes {
    private DjlTypes() {}

    /** Returns DJL's type of the same bytes; fails for those that it does not have, any big-endian one among them. */
    static DataType of(String array, Dtype dtype) {
        return switch (dtype.descr()) {
            case "|b1" -> DataType.BOOLEAN;
            case "|i1" -> DataType.INT8;
            case "|u1" -> DataType.UINT8;
            case "<i4" -> DataType.INT32;
            case "<i8" -> DataType.INT64;
            case "<f2" -> DataType.FLOAT16;
            case "<f4" -> DataType.FLOAT32;
            case "<f8" -> DataType.FLOAT64;
            default ->
                throw Failure.of(ErrorCode.BAD_INPUT, "DJL does not take arrays of this type")
                        .with("array", array)
                        .with("dtype", dtype)
                        .remedy("convert it on its way into the batch, as with"
                                + " Field.rows(\"NAME\").transform(new Transform().cast(\"<f4\")), or leave it out");
        };
    }
}
