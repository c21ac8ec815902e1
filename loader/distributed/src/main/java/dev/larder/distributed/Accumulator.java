package dev.larder.distributed;

import org.jspecify.annotations.Nullable;

/**
 * Combines the blocks of elements of several ranks. The block is in arrays that are used again and again: the JVM of Java 17 makes vector
 * instructions of loops over arrays only.
 */
abstract class Accumulator {
    /** Two blocks of this size fit the nearest cache together with the input. */
    static final int BLOCK_BYTE_SIZE = 8192;

    /** Returns an accumulator for a type. */
    static Accumulator of(ElementType type) {
        return switch (type) {
            case FLOAT -> new FloatAccumulator();
            case HALF -> new HalfAccumulator(false);
            case BFLOAT16 -> new HalfAccumulator(true);
            case DOUBLE -> new DoubleAccumulator();
            case INT -> new IntAccumulator();
            case LONG -> new LongAccumulator();
        };
    }

    /** Begins with the elements of the first rank. */
    abstract void load(@Nullable Object array, long position, int byteSize);

    /** Adds the elements of the next rank. */
    abstract void combine(ReduceOp op, @Nullable Object array, long position, int byteSize);

    /** Divides a sum by the number of ranks. */
    abstract void average(int ranks);

    /** Writes the result. */
    abstract void store(@Nullable Object array, long position, int byteSize);
}
