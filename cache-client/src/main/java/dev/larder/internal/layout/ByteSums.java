package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.util.stream.LongStream;

/**
 * Adds untrusted sizes, none of them negative. A sum of 2^63 or more fails, because no store has that much space; it never
 * becomes small or negative.
 */
public final class ByteSums {
    private ByteSums() {}

    /** Adds sizes. Fails with {@link ErrorCode#NO_SPACE} on overflow. */
    public static long add(long first, long second) {
        try {
            return Math.addExact(first, second);
        } catch (ArithmeticException e) {
            throw tooLarge(e);
        }
    }

    /** Multiplies sizes. Fails with {@link ErrorCode#NO_SPACE} on overflow. */
    public static long multiply(long first, long second) {
        try {
            return Math.multiplyExact(first, second);
        } catch (ArithmeticException e) {
            throw tooLarge(e);
        }
    }

    /** Adds sizes. Fails with {@link ErrorCode#NO_SPACE} on overflow. */
    public static long sum(LongStream sizes) {
        return sizes.reduce(0, ByteSums::add);
    }

    /** Rounds up to a multiple of {@code unit}, a power of two. Fails with {@link ErrorCode#NO_SPACE} on overflow. */
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
