package dev.larder.djl;

import ai.djl.ndarray.types.DataType;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.npy.Dtype;

/**
 * Maps element types to DJL's types.
 *
 * <p>DJL defines more types, but its PyTorch engine ends the whole process on 16-bit or unsigned integers, and reads complex numbers
 * as floats. These types are therefore rejected here.
 */
final class DjlTypes {
    private DjlTypes() {}

    /** Returns DJL's type for the same bytes. Fails if there is none, as for all big-endian types. */
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
                throw Failure.of(ErrorCode.BAD_INPUT, "DJL does not support arrays of this type")
                        .with("array", array)
                        .with("dtype", dtype)
                        .remedy("convert it when it is loaded, for example with"
                                + " Field.rows(\"NAME\").transform(new Transform().cast(\"<f4\")), or leave it out");
        };
    }
}
