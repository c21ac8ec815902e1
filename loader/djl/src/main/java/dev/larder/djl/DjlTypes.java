package dev.larder.djl;

import ai.djl.ndarray.types.DataType;
import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.loader.BatchArray;

/** Finds DJL's names for the types of elements. */
final class DjlTypes {
    static final String REMEDY =
            "convert it with a transform of its field, such as Transforms.cast(\"<f4\") or Transforms.cast(\"<i8\")";

    private DjlTypes() {}

    /** Returns DJL's type of the same bytes; fails for those that it does not have, any big-endian one among them. */
    static DataType of(BatchArray array) {
        return switch (array.dtype().descr()) {
            case "|b1" -> DataType.BOOLEAN;
            case "|i1" -> DataType.INT8;
            case "|u1" -> DataType.UINT8;
            case "<i2" -> DataType.INT16;
            case "<u2" -> DataType.UINT16;
            case "<i4" -> DataType.INT32;
            case "<u4" -> DataType.UINT32;
            case "<i8" -> DataType.INT64;
            case "<u8" -> DataType.UINT64;
            case "<f2" -> DataType.FLOAT16;
            case "<f4" -> DataType.FLOAT32;
            case "<f8" -> DataType.FLOAT64;
            case "<c8" -> DataType.COMPLEX64;
            default ->
                throw Failure.of(ErrorCode.BAD_INPUT, "DJL has no such type")
                        .with("array", array.name())
                        .with("dtype", array.dtype())
                        .remedy(REMEDY);
        };
    }
}
