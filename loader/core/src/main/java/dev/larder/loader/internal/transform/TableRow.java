package dev.larder.loader.internal.transform;

import dev.larder.internal.posix.RawMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Looks up consecutive bytes of one channel, forward or backward, and writes four bytes for each to an address.
 *
 * <p>Rows are short, so loop overhead counts: bytes are read eight or four at a time, and some are read again at the end.
 */
final class TableRow {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long INTS_OFFSET = RawMemory.arrayOffset(int[].class);
    private static final int MASK = 0xff;

    private TableRow() {}

    /** Writes the results for bytes {@code at}, {@code at + 1} …. */
    static void forward(int[] table, int base, byte[] stored, int at, int count, long to) {
        int i = 0;
        for (; i <= count - 8; i += 8) {
            long bits = (long) LONG.get(stored, at + i);
            four(table, base, (int) bits, to + 4L * i);
            four(table, base, (int) (bits >>> 32), to + 4L * i + 16);
        }
        if (i <= count - 4) {
            four(table, base, (int) INT.get(stored, at + i), to + 4L * i);
            i += 4;
        }
        if (i < count && count >= 4) {
            four(table, base, (int) INT.get(stored, at + count - 4), to + 4L * (count - 4));
            i = count;
        }
        for (; i < count; i++) {
            RawMemory.putInt(to + 4L * i, table[base + (stored[at + i] & MASK)]);
        }
    }

    /** Writes the results for {@code count} bytes in reverse order, from {@code at} down. */
    static void backward(int[] table, int base, byte[] stored, int at, int count, long to) {
        int i = 0;
        for (; i <= count - 8; i += 8) {
            long bits = Long.reverseBytes((long) LONG.get(stored, at - i - 7));
            four(table, base, (int) bits, to + 4L * i);
            four(table, base, (int) (bits >>> 32), to + 4L * i + 16);
        }
        if (i <= count - 4) {
            four(table, base, Integer.reverseBytes((int) INT.get(stored, at - i - 3)), to + 4L * i);
            i += 4;
        }
        if (i < count && count >= 4) {
            int bits = Integer.reverseBytes((int) INT.get(stored, at - count + 1));
            four(table, base, bits, to + 4L * (count - 4));
            i = count;
        }
        for (; i < count; i++) {
            RawMemory.putInt(to + 4L * i, table[base + (stored[at - i] & MASK)]);
        }
    }

    private static void four(int[] table, int base, int bytes, long to) {
        RawMemory.putInt(to, entry(table, base, bytes));
        RawMemory.putInt(to + 4, entry(table, base, bytes >>> 8));
        RawMemory.putInt(to + 8, entry(table, base, bytes >>> 16));
        RawMemory.putInt(to + 12, entry(table, base, bytes >>> 24));
    }

    /** Reads the entry of the lowest 8 bits, without a bounds check: the index cannot be too large. */
    static int entry(int[] table, int base, int bits) {
        return RawMemory.getInt(table, INTS_OFFSET + 4L * base + ((bits & MASK) << 2));
    }
}
