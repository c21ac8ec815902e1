package dev.larder.loader.internal.transform;

import java.util.Arrays;
import java.util.List;

/** Moves the elements of a sample for crops, flips and layout, as opaque bytes. */
record Mover(ImageShape from, ImageShape to, int itemSize, List<Move> moves) {
    /** Computes the placement of a sample. */
    void place(Placement placement, int[] parameters) {
        placement.begin(from.height(), from.width());
        for (int i = 0; i < moves.size(); i++) {
            moves.get(i).place(placement, parameters);
        }
    }

    /** Copies a sample, with zeros as its border. */
    void run(byte[] stored, int at, byte[] moved, Placement placement) {
        if (placement.hasBorder()) {
            Arrays.fill(moved, 0, to.size() * itemSize, (byte) 0);
        }
        if (placement.isEmpty()) {
            return;
        }
        if (from.planar() == to.planar()) {
            rows(stored, at, moved, placement);
            return;
        }
        for (int channel = 0; channel < to.channels(); channel++) {
            int source = at + channel * from.channelStride() * itemSize;
            int target = channel * to.channelStride() * itemSize;
            for (int y = placement.firstRow; y < placement.endRow; y++) {
                strided(
                        stored,
                        source + from.rowStride() * itemSize * (y + placement.top),
                        moved,
                        target + to.rowStride() * itemSize * y,
                        placement);
            }
        }
    }

    private void rows(byte[] stored, int at, byte[] moved, Placement placement) {
        int planes = from.planar() ? from.channels() : 1;
        int pixelSize = from.columnStride() * itemSize;
        for (int plane = 0; plane < planes; plane++) {
            int source = at + plane * from.channelStride() * itemSize;
            int target = plane * to.channelStride() * itemSize;
            for (int y = placement.firstRow; y < placement.endRow; y++) {
                int row = source + from.rowStride() * itemSize * (y + placement.top);
                row(stored, row, moved, target + to.rowStride() * itemSize * y, pixelSize, placement);
            }
        }
    }

    /** Copies the pixels of one row whose layout stays: whole, or one by one from the other end. */
    private static void row(byte[] stored, int at, byte[] moved, int to, int pixelSize, Placement placement) {
        int first = placement.firstColumn;
        int count = placement.endColumn - first;
        int target = to + first * pixelSize;
        if (!placement.mirrored) {
            System.arraycopy(stored, at + (placement.left + first) * pixelSize, moved, target, count * pixelSize);
            return;
        }
        int source = at + (placement.left - first) * pixelSize;
        for (int i = 0; i < count; i++) {
            copy(stored, source - i * pixelSize, moved, target + i * pixelSize, pixelSize);
        }
    }

    /** Copies one channel of one row. */
    private void strided(byte[] stored, int at, byte[] moved, int target, Placement placement) {
        int direction = placement.mirrored ? -1 : 1;
        int first = placement.firstColumn;
        int sourceStep = from.columnStride() * itemSize;
        int targetStep = to.columnStride() * itemSize;
        int source = at + (placement.left + direction * first) * sourceStep;
        int place = target + first * targetStep;
        for (int i = placement.endColumn - first; i > 0; i--) {
            copy(stored, source, moved, place, itemSize);
            source += direction * sourceStep;
            place += targetStep;
        }
    }

    private static void copy(byte[] stored, int at, byte[] moved, int to, int size) {
        for (int i = 0; i < size; i++) {
            moved[to + i] = stored[at + i];
        }
    }
}
