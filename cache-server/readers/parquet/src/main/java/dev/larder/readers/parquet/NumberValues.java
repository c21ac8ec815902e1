package dev.larder.readers.parquet;

import java.nio.ByteBuffer;

/** Writes integers as a column has them: narrower than in the file, or in another unit. */
final class NumberValues {
    private NumberValues() {}

    static void put(ColumnKind kind, ByteBuffer target, int[] integers, int from, int count) {
        switch (kind.itemBytes()) {
            case 1 -> {
                for (int i = 0; i < count; i++) {
                    target.put(i, (byte) requireFits(kind, integers[from + i]));
                }
            }
            case 2 -> {
                for (int i = 0; i < count; i++) {
                    target.putShort(2 * i, (short) requireFits(kind, integers[from + i]));
                }
            }
            case 4 -> target.asIntBuffer().put(integers, from, count);
            default -> {
                for (int i = 0; i < count; i++) {
                    target.putLong(8 * i, scaled(kind, integers[from + i]));
                }
            }
        }
    }

    /** Refuses a number that its narrow type has not: Parquet stores four bytes for one or two. */
    private static int requireFits(ColumnKind kind, int value) {
        int unused = Integer.SIZE - kind.itemBytes() * Byte.SIZE;
        int narrow = value << unused;
        if ((kind.isUnsigned() ? narrow >>> unused : narrow >> unused) != value) {
            throw new IllegalStateException(
                    "a value is out of the range of its type: value=" + value + " type=" + kind.dtype());
        }
        return value;
    }

    static void put(ColumnKind kind, ByteBuffer target, long[] longs, int from, int count) {
        if (kind.scale() == ColumnKind.Scale.SAME) {
            target.asLongBuffer().put(longs, from, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            target.putLong(8 * i, scaled(kind, longs[from + i]));
        }
    }

    private static long scaled(ColumnKind kind, long value) {
        return switch (kind.scale()) {
            case SAME -> value;
            case MILLISECONDS_OF_DAYS -> Math.multiplyExact(value, 24L * 60 * 60 * 1000);
            case SECONDS_OF_MILLISECONDS -> {
                if (value % 1000 != 0) {
                    throw new IllegalStateException(
                            "its Arrow schema has seconds, and a value has a fraction: milliseconds=" + value);
                }
                yield value / 1000;
            }
        };
    }
}
