package dev.larder.distributed;

import org.jspecify.annotations.Nullable;

/**
 * Combines what several ranks have of a block of elements. The block lies in arrays that are used again and again: the loops over
 * arrays are the ones that the JVM of Java 17 makes vector instructions of.
 */
abstract class Accumulator {
    /** Two blocks of it fit the nearest cache beside what is read. */
    static final int BLOCK_BYTE_SIZE = 8192;

    /** Returns one for a type. */
    static Accumulator of(ElementType type) {
        return switch (type) {
            case FLOAT -> new FloatAccumulator();
            case HALF -> new HalfAccumulator();
            case BFLOAT16 -> new BfloatAccumulator();
            case DOUBLE -> new DoubleAccumulator();
            case INT -> new IntAccumulator();
            case LONG -> new LongAccumulator();
        };
    }

    /** Begins with the elements of the first rank. */
    abstract void load(@Nullable Object array, long position, int byteSize);

    /** Adds those of the next one. */
    abstract void combine(ReduceOp op, @Nullable Object array, long position, int byteSize);

    /** Makes the average of a sum. */
    abstract void average(int ranks);

    /** Writes the result. */
    abstract void store(@Nullable Object array, long position, int byteSize);
}
