package dev.larder.loader.internal.sample;

import dev.larder.client.ArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.npy.Kind;
import java.util.function.LongUnaryOperator;

/** Reads arrays with one integer for each row. */
public final class IntegerArrays {
    private IntegerArrays() {}

    /** Checks that an array has integers or booleans, and returns a function that reads it. */
    public static LongUnaryOperator of(ArrayView array) {
        Kind kind = array.dtype().kind();
        if (array.dimensions() != 1 || (kind != Kind.INT && kind != Kind.UINT && kind != Kind.BOOL)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "array does not have one integer for each row")
                    .with("array", array.name())
                    .with("dtype", array.dtype().descr())
                    .with("rank", array.dimensions())
                    .remedy("choose a one-dimensional array of integers");
        }
        return array::getLong;
    }
}
