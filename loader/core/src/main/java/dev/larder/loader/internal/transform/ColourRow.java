package dev.larder.loader.internal.transform;

import dev.larder.internal.posix.RawMemory;

/** Looks up the bytes of pixels with three channels, like {@link TableRow} for one channel. */
final class ColourRow {
    private static final int PIXEL = 3;

    private final int[] table;
    private final int greens;
    private final long columnStep;
    private final long channelStep;

    ColourRow(int[] table, int tableStride, ImageShape to) {
        this.table = table;
        this.greens = tableStride;
        this.columnStep = 4L * to.columnStride();
        this.channelStep = 4L * to.channelStride();
    }

    /** Writes the results for {@code count} pixels from {@code at} on, backward if {@code mirrored}. */
    void run(byte[] stored, int at, boolean mirrored, int count, long to) {
        if (channelStep != Integer.BYTES) {
            apart(stored, at, mirrored ? -PIXEL : PIXEL, count, to);
        } else if (mirrored) {
            backward(table, greens, stored, at, count, to);
        } else {
            forward(table, greens, stored, at, count, to);
        }
    }

    private void apart(byte[] stored, int at, int step, int count, long to) {
        int[] entries = table;
        int green = greens;
        int blue = 2 * greens;
        long columns = columnStep;
        long channels = channelStep;
        for (int i = 0; i < count; i++) {
            int pixel = at + i * step;
            long place = to + i * columns;
            RawMemory.putInt(place, TableRow.entry(entries, 0, stored[pixel]));
            RawMemory.putInt(place + channels, TableRow.entry(entries, green, stored[pixel + 1]));
            RawMemory.putInt(place + 2 * channels, TableRow.entry(entries, blue, stored[pixel + 2]));
        }
    }

    /** Writes the results for pixels {@code at}, {@code at + 3} …, channels interleaved. Constant steps make it faster. */
    static void forward(int[] table, int tableStride, byte[] stored, int at, int count, long to) {
        int end = at + PIXEL * count;
        for (int pixel = at; pixel < end; pixel += PIXEL) {
            together(table, tableStride, stored, pixel, to);
            to += PIXEL * Integer.BYTES;
        }
    }

    private static void backward(int[] table, int tableStride, byte[] stored, int at, int count, long to) {
        int end = at - PIXEL * count;
        for (int pixel = at; pixel > end; pixel -= PIXEL) {
            together(table, tableStride, stored, pixel, to);
            to += PIXEL * Integer.BYTES;
        }
    }

    private static void together(int[] table, int tableStride, byte[] stored, int pixel, long to) {
        RawMemory.putInt(to, TableRow.entry(table, 0, stored[pixel]));
        RawMemory.putInt(to + 4, TableRow.entry(table, tableStride, stored[pixel + 1]));
        RawMemory.putInt(to + 8, TableRow.entry(table, 2 * tableStride, stored[pixel + 2]));
    }
}
