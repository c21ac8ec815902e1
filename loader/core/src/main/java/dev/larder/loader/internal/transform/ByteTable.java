package dev.larder.loader.internal.transform;

import dev.larder.internal.posix.RawMemory;
import org.jspecify.annotations.Nullable;

/**
 * A table of the results of the steps for each of the 256 byte values and each channel: bits of any type.
 *
 * <p>Entry {@code channel * 256 + byte} is computed once by the same {@link Arithmetic} that would compute the elements.
 */
final class ByteTable {
    static final int VALUES = 256;

    /** With more channels, tables would be too large for the caches. */
    static final int MAX_CHANNELS = 16;

    private final byte[] bytes;
    private final short[] shorts;
    private final int[] ints;
    private final long[] longs;
    private final int itemSize;
    private final Channels channels;

    private ByteTable(int itemSize, Channels channels) {
        int entries = VALUES * channels.count();
        this.bytes = new byte[itemSize == Byte.BYTES ? entries : 0];
        this.shorts = new short[itemSize == Short.BYTES ? entries : 0];
        this.ints = new int[itemSize == Integer.BYTES ? entries : 0];
        this.longs = new long[itemSize == Long.BYTES ? entries : 0];
        this.itemSize = itemSize;
        this.channels = channels;
    }

    /** Computes the table for stored bytes. */
    static ByteTable of(Arithmetic arithmetic) {
        ByteTable table = new ByteTable(arithmetic.result().byteSize(), arithmetic.channels());
        byte[] all = new byte[VALUES * arithmetic.channels().count()];
        for (int i = 0; i < all.length; i++) {
            all[i] = (byte) i;
        }
        Object entries = table.entries();
        long offset = RawMemory.arrayOffset(entries.getClass());
        arithmetic.withStride(VALUES).run(all, 0, all.length, entries, offset, new NumberBlock());
        return table;
    }

    /** Returns a table that also moves the picture. Results must have four bytes. */
    MovingTable moving(Mover mover, @Nullable Border border) {
        int[] zeros = new int[mover.to().channels()];
        int tableStride = channels.count() == 1 ? 0 : VALUES;
        for (int i = 0; i < zeros.length; i++) {
            zeros[i] = border == null ? ints[i * tableStride] : (int) border.values()[i];
        }
        return new MovingTable(mover, ints, tableStride, zeros);
    }

    int itemSize() {
        return itemSize;
    }

    private Object entries() {
        return switch (itemSize) {
            case Byte.BYTES -> bytes;
            case Short.BYTES -> shorts;
            case Integer.BYTES -> ints;
            default -> longs;
        };
    }

    /** Writes the results of all bytes of a sample. */
    void run(byte[] stored, int at, int count, @Nullable Object target, long offset) {
        if (channels.count() == 1) {
            span(0, stored, at, 1, count, target, offset);
            return;
        }
        boolean interleaved = channels.stride() == 1;
        int step = interleaved ? channels.count() : 1;
        for (int channel = 0; channel < channels.count(); channel++) {
            int first = channel * channels.stride();
            span(channel, stored, at + first, step, count / channels.count(), target, offset + (long) first * itemSize);
        }
    }

    /** Writes the results of bytes of one channel, {@code step} apart in both places. */
    private void span(int channel, byte[] stored, int at, int step, int count, @Nullable Object target, long offset) {
        int base = channel * VALUES;
        switch (itemSize) {
            case Byte.BYTES -> {
                for (int i = 0; i < count; i++) {
                    RawMemory.putByte(target, offset + (long) i * step, bytes[base + (stored[at + i * step] & 0xff)]);
                }
            }
            case Short.BYTES -> {
                for (int i = 0; i < count; i++) {
                    RawMemory.putShort(target, offset + 2L * i * step, shorts[base + (stored[at + i * step] & 0xff)]);
                }
            }
            case Integer.BYTES -> {
                if (step == 1 && target == null) {
                    TableRow.forward(ints, base, stored, at, count, offset);
                    return;
                }
                for (int i = 0; i < count; i++) {
                    RawMemory.putInt(target, offset + 4L * i * step, ints[base + (stored[at + i * step] & 0xff)]);
                }
            }
            default -> {
                for (int i = 0; i < count; i++) {
                    RawMemory.putLong(target, offset + 8L * i * step, longs[base + (stored[at + i * step] & 0xff)]);
                }
            }
        }
    }
}
