package dev.larder.readers.parquet;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.LocalDate;

/** Writes numbers as a column has them: narrower than in the file, in another unit, or without the point of decimals. */
final class NumberValues {
    private static final int JULIAN_DAY_OF_1970 = 2_440_588;
    private static final long NANOSECONDS_OF_A_DAY = 24L * 60 * 60 * 1_000_000_000;
    private static final int TIME_BYTES = Long.BYTES + Integer.BYTES;

    private NumberValues() {}

    /** Reports a value of a sound file that the array cannot hold. */
    static final class Unfit extends RuntimeException {
        private static final long serialVersionUID = 1;
        private final String remedy;

        Unfit(String reason, String remedy) {
            super(reason);
            this.remedy = remedy;
        }

        String remedy() {
            return remedy;
        }
    }

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
                    target.putLong(8 * i, changed(kind, integers[from + i]));
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
        if (kind.change().how() == ColumnKind.How.SAME || kind.isScaled()) {
            target.asLongBuffer().put(longs, from, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            target.putLong(8 * i, changed(kind, longs[from + i]));
        }
    }

    /** Puts values of one or of any length; those of nulls have no bytes. */
    static void put(ColumnKind kind, ByteBuffer target, byte[] bytes, int[] offsets, int from, int count) {
        for (int i = 0; i < count; i++) {
            int start = offsets[from + i];
            int length = offsets[from + i + 1] - start;
            long bits = length == 0 ? 0 : bits(kind, bytes, start, length);
            target.putLong(8 * i, bits);
        }
    }

    private static long bits(ColumnKind kind, byte[] bytes, int from, int length) {
        return switch (kind.change().how()) {
            case NANOSECONDS_OF_INT96 -> nanoseconds(ByteBuffer.wrap(bytes, from, length));
            case INTEGERS_OF_DECIMALS -> integer(bytes, from, length);
            default ->
                Double.doubleToRawLongBits(new BigDecimal(
                                new BigInteger(bytes, from, length), kind.change().digits())
                        .doubleValue());
        };
    }

    /** Returns a big-endian integer; its bytes before the last eight may only repeat the sign. */
    private static long integer(byte[] bytes, int from, int length) {
        int first = from + Math.max(0, length - Long.BYTES);
        long value = bytes[first];
        for (int i = first + 1; i < from + length; i++) {
            value = value << Byte.SIZE | (bytes[i] & 0xff);
        }
        for (int i = from; i < first; i++) {
            if (bytes[i] != (value < 0 ? -1 : 0)) {
                throw new Unfit(
                        "int64 lacks a decimal, which has no point there: value="
                                + new BigInteger(bytes, from, length),
                        "load decimals as doubles with --decimals f8");
            }
        }
        return value;
    }

    /** Returns the nanoseconds since 1970 of a time of twelve bytes: those since midnight, then the Julian day. */
    private static long nanoseconds(ByteBuffer time) {
        ByteBuffer in = time.order(ByteOrder.LITTLE_ENDIAN);
        if (in.remaining() != TIME_BYTES) {
            throw new IllegalStateException("a time has " + in.remaining() + " bytes, not " + TIME_BYTES);
        }
        long nanoseconds = in.getLong();
        long days = in.getInt() - (long) JULIAN_DAY_OF_1970;
        boolean isBefore = days < 0; // the first day of M8[ns] begins before its first nanosecond
        try {
            long midnight = Math.multiplyExact(isBefore ? days + 1 : days, NANOSECONDS_OF_A_DAY);
            long sum = Math.addExact(midnight, isBefore ? nanoseconds - NANOSECONDS_OF_A_DAY : nanoseconds);
            if (sum != Long.MIN_VALUE) { // that is NaT in numpy
                return sum;
            }
        } catch (ArithmeticException e) {
            // it is out of range as well
        }
        throw new Unfit(
                "M8[ns] lacks a time of INT96, as it has 1677-09-21 to 2262-04-11 only: day="
                        + LocalDate.ofEpochDay(days),
                "write the column as timestamps of microseconds (in Spark set"
                        + " spark.sql.parquet.outputTimestampType=TIMESTAMP_MICROS)");
    }

    private static long changed(ColumnKind kind, long value) {
        return switch (kind.change().how()) {
            case DOUBLES_OF_DECIMALS ->
                Double.doubleToRawLongBits(
                        BigDecimal.valueOf(value, kind.change().digits()).doubleValue());
            case SAME, INTEGERS_OF_DECIMALS, NANOSECONDS_OF_INT96, NOTHING -> value;
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
