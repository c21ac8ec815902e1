package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.util.stream.LongStream;

/**
 * Adds up sizes that somebody else has named, none of them negative. A sum past 2^63 fails as what no store has room for, and never
 * comes out small or negative.
 */
public final class ByteSums {
    private ByteSums() {}

    /** Adds sizes; fails with {@link ErrorCode#NO_SPACE}. */
    public static long add(long first, long second) {
        try {
            return Math.addExact(first, second);
        } catch (ArithmeticException e) {
            throw tooLarge(e);
        }
    }

    /** Multiplies sizes; fails with {@link ErrorCode#NO_SPACE}. */
    public static long multiply(long first, long second) {
        try {
            return Math.multiplyExact(first, second);
        } catch (ArithmeticException e) {
            throw tooLarge(e);
        }
    }

    /** Adds sizes up; fails with {@link ErrorCode#NO_SPACE}. */
    public static long sum(LongStream sizes) {
        return sizes.reduce(0, ByteSums::add);
    }

    /** Rounds up to a multiple of {@code unit}, a power of two; fails with {@link ErrorCode#NO_SPACE}. */
    public static long roundUp(long bytes, long unit) {
        return add(bytes, unit - 1) & -unit;
    }

    /** Rounds down to a multiple of {@code unit}, a power of two. */
    public static long roundDown(long bytes, long unit) {
        return bytes & -unit;
    }

    private static LarderException tooLarge(ArithmeticException cause) {
        return Failure.of(ErrorCode.NO_SPACE, "not enough space")
                .with("needed", "more than 2^63 bytes")
                .cause(cause)
                .remedy("check sizes and shapes: their sum exceeds any store");
    }
}
