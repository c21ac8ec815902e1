package dev.larder.readers.hdf5;

import io.jhdf.api.dataset.ChunkedDataset;
import io.jhdf.dataset.DatasetBase;
import io.jhdf.dataset.chunked.Chunk;
import io.jhdf.dataset.chunked.ChunkedDatasetBase;
import io.jhdf.exceptions.HdfException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Puts the chunks of a dataset together, block by block. The library does so too, but takes what was never written for zeros, or for
 * whatever lies at the start of the file, where there is a fill value.
 */
final class Chunks {
    private final byte @Nullable [] fill;
    private final ChunkedDataset chunked;
    private final int[] dimensions;
    private final int[] chunk;
    private final int itemBytes;
    private final Set<List<Integer>> present = new HashSet<>();

    Chunks(DatasetBase dataset, ChunkedDataset chunked) {
        this.fill = FillValues.of(dataset);
        this.chunked = chunked;
        this.dimensions = dataset.getDimensions();
        this.chunk = chunked.getChunkDimensions();
        this.itemBytes = dataset.getDataType().getSize();
        for (Object entry : lookup(dataset).values()) {
            if (entry instanceof Chunk known && known.getAddress() > 0) {
                present.add(boxed(known.getChunkOffset()));
            }
        }
    }

    /** Asks for what the library does not show: where each chunk lies, which tells whether it is there at all. */
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

    private static List<Integer> boxed(int[] offset) {
        return IntStream.of(offset).boxed().toList();
    }

    /** Fills a block. */
    void write(RowBlocks.Block block, ByteBuffer target) {
        int[] origin = new int[dimensions.length];
        origin[0] = Math.toIntExact(block.firstRow() / chunk[0] * chunk[0]);
        long end = block.firstRow() + block.rows();
        while (origin[0] < end) {
            byte[] bytes = present.contains(boxed(origin)) ? chunked.getDecompressedChunk(origin.clone()) : null;
            copy(origin, bytes, block, target);
            if (!next(origin)) {
                return;
            }
        }
    }

    private boolean next(int[] origin) {
        for (int axis = dimensions.length - 1; axis >= 0; axis--) {
            origin[axis] += chunk[axis];
            if (axis == 0 || origin[axis] < dimensions[axis]) {
                return origin[axis] >= 0;
            }
            origin[axis] = 0;
        }
        return false;
    }

    /** Copies the part of a chunk that lies within a block, one run of the last dimension after the other. */
    private void copy(int[] origin, byte @Nullable [] bytes, RowBlocks.Block block, ByteBuffer target) {
        int last = dimensions.length - 1;
        int[] at = new int[dimensions.length];
        int from = last == 0 ? Math.toIntExact(Math.max(0, block.firstRow() - origin[0])) : 0;
        long most = last == 0 ? block.firstRow() + block.rows() - origin[0] : dimensions[last] - origin[last];
        int length = (int) Math.min(chunk[last], most) - from;
        ByteBuffer out = target.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        while (length > 0) {
            long index = 0;
            long source = 0;
            boolean isWithin = true;
            for (int axis = 0; axis <= last; axis++) {
                int place = axis == last ? from : at[axis];
                long first = axis == 0 ? block.firstRow() : 0;
                long rows = axis == 0 ? block.rows() : dimensions[axis];
                long row = origin[axis] + place - first;
                isWithin &= row >= 0 && row < rows;
                index = index * rows + row;
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
