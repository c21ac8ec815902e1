package dev.larder.reader.chunks;

import dev.larder.reader.BadSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The chunks of an array: boxes of one shape, side by side from its first element on. Those at the ends of dimensions reach beyond them. Immutable.
 */
public final class ChunkGrid {
    /** A chunk is there packed, unpacked, and once more for each thread. */
    private static final int HEAP_PARTS = 8;

    private final long[] shape;
    private final int[] chunk;
    private final byte @Nullable [] fill;

    /** The dimensions up to the last one that has several chunks, and the first one. The others are part of an item. */
    private final int axes;

    private final int itemBytes;

    /**
     * Describes the chunks of an array with at least one dimension.
     *
     * @param chunk the shape of a chunk, which fits the heap
     * @param fill the bytes of an element that was never written; null for zeros
     */
    public ChunkGrid(long[] shape, int[] chunk, int elementBytes, byte @Nullable [] fill) {
        this.shape = shape.clone();
        this.chunk = chunk.clone();
        this.fill = fill == null ? null : fill.clone();
        int item = elementBytes;
        int last = shape.length - 1;
        while (last > 0 && chunk[last] == shape[last]) {
            item = Math.multiplyExact(item, chunk[last]);
            last--;
        }
        this.axes = last + 1;
        this.itemBytes = item;
    }

    /**
     * Returns the length of a chunk; refuses one that cannot be unpacked in the reader's heap.
     *
     * @param file the number of its file, for a refusal
     * @param name the name of its array, for a refusal
     */
    public static int requireFit(long[] chunk, int elementBytes, int file, String name) throws BadSource {
        long bytes = Math.max(1, elementBytes);
        for (long length : chunk) {
            bytes = length > 0 && bytes > Long.MAX_VALUE / length ? Long.MAX_VALUE : bytes * length;
        }
        long most = Math.min(Integer.MAX_VALUE / 2, Runtime.getRuntime().maxMemory() / HEAP_PARTS);
        if (bytes > most) {
            throw new BadSource(
                    file,
                    BadSource.NOWHERE,
                    name,
                    "its chunks have " + bytes + " bytes each, more than " + most + " that the reader's heap allows",
                    "restart the daemon with a larger LARDER_READER_HEAP, or store it in smaller chunks");
        }
        return (int) bytes;
    }

    /** Takes the chunks of some rows. */
    @FunctionalInterface
    public interface Visitor {
        /** Takes the index of the first element of a chunk. The array of the index changes afterwards. */
        void visit(long[] origin) throws IOException;
    }

    /** Visits all chunks that have some of the rows. */
    public void visit(long firstRow, long rows, Visitor visitor) throws IOException {
        long[] origin = new long[shape.length];
        origin[0] = firstRow / chunk[0] * chunk[0];
        while (origin[0] >= 0 && origin[0] < firstRow + rows) {
            visitor.visit(origin);
            advance(origin);
        }
    }

    private void advance(long[] origin) {
        for (int axis = shape.length - 1; axis >= 0; axis--) {
            origin[axis] += chunk[axis];
            if (axis == 0 || origin[axis] < shape[axis]) {
                return;
            }
            origin[axis] = 0;
        }
    }

    /** Returns whether a chunk reaches beyond the end of a dimension. */
    public boolean isAtEdge(long[] origin) {
        for (int axis = 0; axis < shape.length; axis++) {
            if (origin[axis] + chunk[axis] > shape[axis]) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether all bytes of a chunk are successive bytes of the rows. */
    public boolean isRun(long[] origin, long firstRow, long rows) {
        return axes == 1 && origin[0] >= firstRow && origin[0] + chunk[0] <= firstRow + rows;
    }

    /** Copies the part of a chunk that is in some rows, run by run; the elements are fill values if {@code bytes} is null. */
    public void copy(long[] origin, byte @Nullable [] bytes, long firstRow, long rows, ByteBuffer target) {
        int last = axes - 1;
        int[] at = new int[axes];
        int from = last == 0 ? Math.toIntExact(Math.max(0, firstRow - origin[0])) : 0;
        long most = last == 0 ? firstRow + rows - origin[0] : shape[last] - origin[last];
        int length = (int) Math.min(chunk[last], most) - from;
        ByteBuffer out = target.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        while (length > 0) {
            long index = 0;
            long source = 0;
            boolean isWithin = true;
            for (int axis = 0; axis <= last; axis++) {
                int place = axis == last ? from : at[axis];
                long start = axis == 0 ? firstRow : 0;
                long count = axis == 0 ? rows : shape[axis];
                long row = origin[axis] + place - start;
                isWithin &= row >= 0 && row < count;
                index = index * count + row;
                source = source * chunk[axis] + place;
            }
            if (isWithin) {
                put(out, index, bytes, source, length);
            }
            if (!advance(at, last)) {
                return;
            }
        }
    }

    private boolean advance(int[] at, int last) {
        for (int axis = last - 1; axis >= 0; axis--) {
            at[axis]++;
            if (at[axis] < chunk[axis]) {
                return true;
            }
            at[axis] = 0;
        }
        return false;
    }

    private void put(ByteBuffer out, long index, byte @Nullable [] bytes, long source, int length) {
        out.position(Math.toIntExact(index * itemBytes));
        if (bytes != null) {
            out.put(bytes, Math.toIntExact(source * itemBytes), length * itemBytes);
        } else if (fill != null) {
            for (int end = out.position() + length * itemBytes; out.position() < end; ) {
                out.put(fill);
            }
        }
    }
}
