package dev.larder.readers.hdf5;

import dev.larder.reader.chunks.ChunkGrid;
import io.jhdf.api.dataset.ChunkedDataset;
import io.jhdf.dataset.DatasetBase;
import io.jhdf.dataset.chunked.Chunk;
import io.jhdf.dataset.chunked.ChunkOffset;
import io.jhdf.dataset.chunked.ChunkedDatasetBase;
import io.jhdf.exceptions.HdfException;
import io.jhdf.object.message.FilterPipelineMessage;
import io.jhdf.storage.HdfBackingStorage;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Puts the chunks of a dataset together, block by block. The library does so too, but takes elements that were never written for zeros, or for
 * the bytes at the start of the file, even if there is a fill value.
 */
final class Chunks {
    private static final int LAYOUT_WITH_FLAGS = 4;
    private static final int NO_FILTERS_AT_EDGES = 1;

    private final HdfBackingStorage file;
    private final ChunkGrid grid;
    private final int chunkRows;
    private final int chunkBytes;
    private final Map<?, ?> lookup;
    private final ChunkFilters filters;
    private final ChunkFilters noFilters;
    private final boolean areEdgesFiltered;

    /** The first rows of written chunks by the rows behind their last ones; made when it is first needed. */
    private @Nullable NavigableMap<Long, Long> startsByEnd;

    Chunks(
            HdfBackingStorage file,
            DatasetBase dataset,
            List<RawMessages.Raw> header,
            int chunkBytes,
            byte @Nullable [] fill) {
        this.file = file;
        int[] chunk = ((ChunkedDataset) dataset).getChunkDimensions();
        this.grid = new ChunkGrid(
                dataset.getDimensionsAsLong(), chunk, dataset.getDataType().getSize(), fill);
        this.chunkRows = chunk[0];
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
                    startsByEnd.put(start + chunkRows, start);
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
    void read(long firstRow, long rows, ByteBuffer target) throws IOException {
        grid.visit(firstRow, rows, origin -> read(origin, firstRow, rows, target));
    }

    private void read(long[] origin, long firstRow, long rows, ByteBuffer target) {
        if (!(lookup.get(new ChunkOffset(origin)) instanceof Chunk found) || !isWritten(found)) {
            grid.copy(origin, null, firstRow, rows, target);
            return;
        }
        ByteBuffer stored = file.readBufferFromAddress(found.getAddress(), found.getSize());
        BitSet skipped = found.getFilterMask();
        ChunkFilters its = areEdgesFiltered || !grid.isAtEdge(origin) ? filters : noFilters;
        if (grid.isRun(origin, firstRow, rows) && its.isDeflated(skipped)) {
            int start = Math.toIntExact((origin[0] - firstRow) * (chunkBytes / chunkRows));
            its.inflate(stored, target.slice(start, chunkBytes));
        } else {
            grid.copy(origin, its.undo(stored, skipped), firstRow, rows, target);
        }
    }
}
