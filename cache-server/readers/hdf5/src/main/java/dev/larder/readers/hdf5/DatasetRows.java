package dev.larder.readers.hdf5;

import dev.larder.reader.BadSource;
import io.jhdf.api.dataset.ChunkedDataset;
import io.jhdf.api.dataset.ContiguousDataset;
import io.jhdf.dataset.DatasetBase;
import io.jhdf.exceptions.HdfException;
import io.jhdf.storage.HdfBackingStorage;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The bytes of a dataset's rows as they are in memory, however the file stores them. */
final class DatasetRows {
    /** A chunk is there packed, unpacked, and once more for each thread. */
    private static final int HEAP_PARTS = 8;

    private final HdfBackingStorage file;
    private final DatasetBase dataset;
    private final @Nullable Chunks chunks;
    private final byte @Nullable [] fill;

    private DatasetRows(HdfBackingStorage file, DatasetBase dataset, @Nullable Chunks chunks, byte @Nullable [] fill) {
        this.file = file;
        this.dataset = dataset;
        this.chunks = chunks;
        this.fill = fill;
    }

    /** Opens the rows of a dataset; refuses chunks that cannot be unpacked in the reader's memory. */
    static DatasetRows of(HdfBackingStorage file, DatasetBase dataset, int number, String name) throws BadSource {
        List<RawMessages.Raw> header = RawMessages.of(file, dataset.getHeader().getAddress());
        byte[] fill = FillValues.of(header, dataset.getDataType().getSize());
        Chunks chunks = null;
        if (dataset instanceof ChunkedDataset chunked) {
            long chunkBytes = requireChunks(dataset, chunked, number, name);
            chunks = dataset.getSize() > 0 ? new Chunks(file, dataset, header, (int) chunkBytes, fill) : null;
        }
        return new DatasetRows(file, dataset, chunks, fill);
    }

    /** Refuses chunks without elements, with other dimensions than their dataset, or too large for the heap; returns their length. */
    private static long requireChunks(DatasetBase dataset, ChunkedDataset chunked, int number, String name)
            throws BadSource {
        long[] shape = dataset.getDimensionsAsLong();
        int[] chunk = chunked.getChunkDimensions();
        if (chunk.length != shape.length || IntStream.of(chunk).anyMatch(dimension -> dimension <= 0)) {
            throw BadSource.damaged(
                    number,
                    BadSource.NOWHERE,
                    name,
                    "its chunks have the shape " + Arrays.toString(chunk) + ", and it has " + Arrays.toString(shape));
        }
        long bytes = Math.max(1, dataset.getDataType().getSize());
        for (int dimension : chunk) {
            bytes = bytes > Long.MAX_VALUE / dimension ? Long.MAX_VALUE : bytes * dimension;
        }
        long most = Math.min(Integer.MAX_VALUE / 2, Runtime.getRuntime().maxMemory() / HEAP_PARTS);
        if (bytes > most) {
            throw new BadSource(
                    number,
                    BadSource.NOWHERE,
                    name,
                    "its chunks have " + bytes + " bytes each, more than " + most + " that the reader's heap allows",
                    "restart the daemon with a larger LARDER_READER_HEAP, or store it in smaller chunks");
        }
        return bytes;
    }

    /** Returns the first row from {@code row} on that the file may contain, or {@code end} if those before it were never written. */
    long nextWritten(long row, long end) {
        if (chunks != null) {
            return Math.min(end, chunks.nextWritten(row));
        }
        return dataset instanceof ContiguousDataset && dataset.isEmpty() ? end : row;
    }

    /** Fills a buffer with rows; {@code position} is that of the first row in the bytes of the dataset. */
    void read(long firstRow, long rows, long position, ByteBuffer target) {
        if (chunks != null) {
            chunks.read(firstRow, rows, target);
        } else if (dataset instanceof ContiguousDataset && dataset.isEmpty()) { // never written
            while (fill != null && target.hasRemaining()) {
                target.put(fill);
            }
        } else if (dataset instanceof ContiguousDataset whole) {
            target.put(file.map(Math.addExact(whole.getDataAddress(), position), target.remaining()));
        } else {
            ByteBuffer whole = dataset.getDataBuffer().duplicate().clear();
            if (position > whole.limit() - target.remaining()) {
                throw new HdfException("its data has only " + whole.limit() + " bytes");
            }
            target.put(whole.slice((int) position, target.remaining()));
        }
    }
}
