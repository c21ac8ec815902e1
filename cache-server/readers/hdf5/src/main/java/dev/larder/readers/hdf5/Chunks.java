package dev.larder.readers.hdf5;

import io.jhdf.api.dataset.ChunkedDataset;
import io.jhdf.dataset.DatasetBase;
import io.jhdf.dataset.chunked.Chunk;
import io.jhdf.dataset.chunked.ChunkOffset;
import io.jhdf.dataset.chunked.ChunkedDatasetBase;
import io.jhdf.exceptions.HdfException;
import io.jhdf.object.message.FilterPipelineMessage;
import io.jhdf.storage.HdfBackingStorage;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Puts the chunks of a dataset together, block by block. The library does so too, but takes elements that were never written for zeros, or for
 * the bytes at the start of the file, even if there is a fill value.
 */
final class Chunks {
    private static final int LAYOUT_WITH_FLAGS = 4;
    private static final int NO_FILTERS_AT_EDGES = 1;

    private final HdfBackingStorage file;
    private final byte @Nullable [] fill;
    private final long[] dimensions;
    private final int[] chunk;
    private final int itemBytes;
    private final int chunkBytes;
    private final Map<?, ?> lookup;
    private final ChunkFilters filters;
    private final ChunkFilters noFilters;
    private final boolean areEdgesFiltered;
    private final boolean hasWholeRows;

    /** The first rows of written chunks by the rows behind their last ones; made when it is first needed. */
    private @Nullable NavigableMap<Long, Long> startsByEnd;

    Chunks(
            HdfBackingStorage file,
            DatasetBase dataset,
            List<RawMessages.Raw> header,
            int chunkBytes,
            byte @Nullable [] fill) {
        this.file = file;
        this.fill = fill;
        this.dimensions = dataset.getDimensionsAsLong();
        this.chunk = ((ChunkedDataset) dataset).getChunkDimensions();
        this.itemBytes = dataset.getDataType().getSize();
        this.chunkBytes = chunkBytes;
        this.lookup = lookup(dataset);
        this.noFilters = new ChunkFilters(List.of(), chunkBytes);
        this.filters = dataset.getHeader().hasMessageOfType(FilterPipelineMessage.class)
                ? new ChunkFilters(
                        dataset.getHeader()
                                .getMessageOfType(FilterPipelineMessage.class)
                                .getFilters(),
                        chunkBytes)
                : noFilters;
        this.areEdgesFiltered = header.stream().noneMatch(Chunks::leavesOutEdges);
        this.hasWholeRows = IntStream.range(1, chunk.length).allMatch(axis -> chunk[axis] == dimensions[axis]);
    }

    private static boolean leavesOutEdges(RawMessages.Raw message) {
        return message.type() == RawMessages.LAYOUT
                && message.data().get(0) == LAYOUT_WITH_FLAGS
                && (message.data().get(2) & NO_FILTERS_AT_EDGES) != 0;
    }

    /** Returns the chunks by their places, which the library does not show. */
    private static Map<?, ?> lookup(DatasetBase dataset) {
        try {
            Method lookup = ChunkedDatasetBase.class.getDeclaredMethod("getChunkLookup");
            lookup.setAccessible(true);
            return (Map<?, ?>) lookup.invoke(dataset);
        } catch (InvocationTargetException e) {
            throw new HdfException("its chunks cannot be found", e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("another version of the library", e);
        }
    }

    /** Returns the first row from {@code row} on that is in a written chunk; the largest number if there is none. */
    synchronized long nextWritten(long row) {
        if (startsByEnd == null) {
            startsByEnd = new TreeMap<>();
            for (Object one : lookup.values()) {
                if (one instanceof Chunk found && isWritten(found)) {
                    long start = found.getChunkOffset()[0];
                    startsByEnd.put(start + chunk[0], start);
                }
            }
        }
        Map.Entry<Long, Long> next = startsByEnd.higherEntry(row);
        return next == null ? Long.MAX_VALUE : Math.max(row, next.getValue());
    }

    private static boolean isWritten(Chunk found) {
        return found.getAddress() > 0;
    }

    /** Fills a buffer with rows. */
    void read(long firstRow, long rows, ByteBuffer target) {
        long[] origin = new long[dimensions.length];
        origin[0] = firstRow / chunk[0] * chunk[0];
        while (origin[0] < firstRow + rows) {
            read(origin, firstRow, rows, target);
            if (!next(origin)) {
                return;
            }
        }
    }

    private void read(long[] origin, long firstRow, long rows, ByteBuffer target) {
        if (!(lookup.get(new ChunkOffset(origin)) instanceof Chunk found) || !isWritten(found)) {
            copy(origin, null, firstRow, rows, target);
            return;
        }
        ByteBuffer stored = file.readBufferFromAddress(found.getAddress(), found.getSize());
        BitSet skipped = found.getFilterMask();
        ChunkFilters its = areEdgesFiltered || !isAtEdge(origin) ? filters : noFilters;
        boolean isRun = hasWholeRows && origin[0] >= firstRow && origin[0] + chunk[0] <= firstRow + rows;
        if (isRun && its.isDeflated(skipped)) {
            int start = Math.toIntExact((origin[0] - firstRow) * (chunkBytes / chunk[0]));
            its.inflate(stored, target.slice(start, chunkBytes));
        } else {
            copy(origin, its.undo(stored, skipped), firstRow, rows, target);
        }
    }

    private boolean isAtEdge(long[] origin) {
        for (int axis = 0; axis < dimensions.length; axis++) {
            if (origin[axis] + chunk[axis] > dimensions[axis]) {
                return true;
            }
        }
        return false;
    }

    private boolean next(long[] origin) {
        for (int axis = dimensions.length - 1; axis >= 0; axis--) {
            origin[axis] += chunk[axis];
            if (axis == 0 || origin[axis] < dimensions[axis]) {
                return origin[axis] >= 0;
            }
            origin[axis] = 0;
        }
        return false;
    }

    /** Copies the part of a chunk that is in a block of rows, one run of the last dimension after the other. */
    private void copy(long[] origin, byte @Nullable [] bytes, long firstRow, long rows, ByteBuffer target) {
        int last = dimensions.length - 1;
        int[] at = new int[dimensions.length];
        int from = last == 0 ? Math.toIntExact(Math.max(0, firstRow - origin[0])) : 0;
        long most = last == 0 ? firstRow + rows - origin[0] : dimensions[last] - origin[last];
        int length = (int) Math.min(chunk[last], most) - from;
        ByteBuffer out = target.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        while (length > 0) {
            long index = 0;
            long source = 0;
            boolean isWithin = true;
            for (int axis = 0; axis <= last; axis++) {
                int place = axis == last ? from : at[axis];
                long start = axis == 0 ? firstRow : 0;
                long count = axis == 0 ? rows : dimensions[axis];
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
            for (int i = 0; i < length; i++) {
                out.put(fill);
            }
        }
    }
}
