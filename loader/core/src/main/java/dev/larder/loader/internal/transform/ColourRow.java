package dev.larder.loader.internal.transform;

import dev.larder.internal.posix.RawMemory;

/** Looks up the bytes of pixels of three channels, as {@link TableRow} does those of one. */
final class ColourRow {
    private static final int PIXEL = 3;

    private final int[] table;
    private final int greens;
    private final int blues;
    private final long columnStep;
    private final long channelStep;

    ColourRow(int[] table, int tableStride, ImageShape to) {
        this.table = table;
        this.greens = tableStride;
        this.blues = 2 * tableStride;
        this.columnStep = 4L * to.columnStride();
        this.channelStep = 4L * to.channelStride();
    }

    /** Writes what the pixels {@code at} and after it become, or before it where {@code mirrored}. */
    void run(byte[] stored, int at, boolean mirrored, int count, long to) {
        int step = mirrored ? -PIXEL : PIXEL;
        int[] entries = table;
        int green = greens;
        int blue = blues;
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
}
