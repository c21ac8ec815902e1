package dev.larder.loader.internal.transform;

import dev.larder.internal.posix.RawMemory;
import org.jspecify.annotations.Nullable;

/**
 * Moves the bytes of a picture and looks them up in one pass, for results of four bytes: the most common case for pictures.
 *
 * <p>Has the same result as {@link Mover}, {@link ByteTable} and {@link Border} in sequence.
 */
final class MovingTable {
    private static final int MASK = 0xff;

    private final Mover mover;
    private final int[] table;
    private final int tableStride;

    /** The bits of one border element of each channel. */
    private final int[] border;

    /** Looks up three channels at a time; null for other numbers of channels. */
    private final @Nullable ColourRow colours;

    private final int planes;
    private final int width;
    private final int height;
    private final int storedRowStep;
    private final int storedColumnStep;
    private final int storedChannelStep;
    private final long rowStep;
    private final long columnStep;
    private final long channelStep;

    /**
     * Creates a table for moved pictures.
     *
     * @param tableStride the distance between the tables of channels, 0 if all channels share one
     */
    MovingTable(Mover mover, int[] table, int tableStride, int[] border) {
        ImageShape from = mover.from();
        ImageShape to = mover.to();
        this.mover = mover;
        this.table = table;
        this.tableStride = tableStride;
        this.border = border;
        boolean coloured = from.channels() == 3 && !from.planar();
        this.colours = coloured ? new ColourRow(table, tableStride, to) : null;
        this.planes = coloured ? 1 : from.channels();
        this.width = to.width();
        this.height = to.height();
        this.storedRowStep = from.rowStride();
        this.storedColumnStep = from.columnStride();
        this.storedChannelStep = from.channelStride();
        this.rowStep = 4L * to.rowStride();
        this.columnStep = 4L * to.columnStride();
        this.channelStep = 4L * to.channelStride();
    }

    Mover mover() {
        return mover;
    }

    /** Writes one sample at its placement. */
    void run(byte[] stored, int at, long offset, Placement placement) {
        if (placement.hasBorder()) {
            fillBorder(offset, placement);
        }
        if (placement.isEmpty()) {
            return;
        }
        int firstRow = placement.firstRow;
        int endRow = placement.endRow;
        int first = placement.firstColumn;
        int count = placement.endColumn - first;
        int start = placement.mirrored ? placement.left - first : placement.left + first;
        int direction = placement.mirrored ? -1 : 1;
        for (int plane = 0; plane < planes; plane++) {
            int source = at
                    + plane * storedChannelStep
                    + (firstRow + placement.top) * storedRowStep
                    + start * storedColumnStep;
            long to = offset + plane * channelStep + firstRow * rowStep + first * columnStep;
            for (int y = firstRow; y < endRow; y++) {
                if (colours != null) {
                    colours.run(stored, source, placement.mirrored, count, to);
                } else {
                    channel(plane * tableStride, stored, source, direction, count, to);
                }
                source += storedRowStep;
                to += rowStep;
            }
        }
    }

    /** Writes one channel of a row. */
    private void channel(int base, byte[] stored, int at, int direction, int count, long to) {
        if (storedColumnStep == 1 && columnStep == 4) {
            if (direction > 0) {
                TableRow.forward(table, base, stored, at, count, to);
            } else {
                TableRow.backward(table, base, stored, at, count, to);
            }
            return;
        }
        int step = direction * storedColumnStep;
        for (int i = 0; i < count; i++) {
            RawMemory.putInt(to + i * columnStep, table[base + (stored[at + i * step] & MASK)]);
        }
    }

    private void fillBorder(long offset, Placement placement) {
        int firstRow = placement.firstRow;
        int endRow = placement.endRow;
        for (int channel = 0; channel < border.length; channel++) {
            int bits = border[channel];
            long plane = offset + channel * channelStep;
            fill(bits, plane, firstRow, rowStep, width, columnStep);
            fill(bits, plane + endRow * rowStep, height - endRow, rowStep, width, columnStep);
            long inner = plane + firstRow * rowStep;
            fill(bits, inner, placement.firstColumn, columnStep, endRow - firstRow, rowStep);
            int right = width - placement.endColumn;
            fill(bits, inner + placement.endColumn * columnStep, right, columnStep, endRow - firstRow, rowStep);
        }
    }

    /** Fills a few long lines instead of many short ones: columns at the sides, rows at top and bottom. */
    private static void fill(int bits, long to, int lines, long lineStep, int count, long step) {
        for (int line = 0; line < lines; line++) {
            long first = to + line * lineStep;
            for (int i = 0; i < count; i++) {
                RawMemory.putInt(first + i * step, bits);
            }
        }
    }
}
