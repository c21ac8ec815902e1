package dev.larder.loader.internal.transform;

import dev.larder.internal.posix.RawMemory;
import org.jspecify.annotations.Nullable;

/**
 * Writes the border of crops if numbers were changed before the crop: the border then differs from the result for a stored zero.
 *
 * @param values the bits of one border element of each channel
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Border(ImageShape picture, int itemSize, long[] values) {
    /** Reads the bits of elements. */
    static long[] values(byte[] bytes, int itemSize) {
        long[] values = new long[bytes.length / itemSize];
        for (int i = 0; i < values.length; i++) {
            values[i] = 0;
            for (int j = itemSize - 1; j >= 0; j--) {
                values[i] = (values[i] << 8) | (bytes[i * itemSize + j] & 0xff);
            }
        }
        return values;
    }

    /** Writes the border of one sample. */
    void run(Placement placement, @Nullable Object target, long offset) {
        for (int channel = 0; channel < picture.channels(); channel++) {
            for (int y = 0; y < picture.height(); y++) {
                boolean whole = y < placement.firstRow || y >= placement.endRow;
                long row = channel * (long) picture.channelStride() + y * (long) picture.rowStride();
                fill(channel, row, 0, whole ? picture.width() : placement.firstColumn, target, offset);
                fill(channel, row, whole ? picture.width() : placement.endColumn, picture.width(), target, offset);
            }
        }
    }

    private void fill(int channel, long row, int first, int end, @Nullable Object target, long offset) {
        long bits = values[channel];
        long step = (long) picture.columnStride() * itemSize;
        long at = offset + row * itemSize + first * step;
        for (int x = first; x < end; x++) {
            switch (itemSize) {
                case Byte.BYTES -> RawMemory.putByte(target, at, (byte) bits);
                case Short.BYTES -> RawMemory.putShort(target, at, (short) bits);
                case Integer.BYTES -> RawMemory.putInt(target, at, (int) bits);
                default -> RawMemory.putLong(target, at, bits);
            }
            at += step;
        }
    }
}
