package dev.larder.readers.hdf5;

import dev.larder.reader.BadSource;
import dev.larder.reader.Output;
import dev.larder.reader.chunks.ChunkGrid;
import dev.larder.reader.chunks.RowBlocks;
import io.jhdf.api.dataset.ChunkedDataset;
import io.jhdf.api.dataset.ContiguousDataset;
import io.jhdf.dataset.DatasetBase;
import io.jhdf.exceptions.HdfException;
import io.jhdf.storage.HdfBackingStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The bytes of a dataset's rows as they are in memory, however the file stores them. */
final class DatasetRows {
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
            int chunkBytes = requireChunks(dataset, chunked, number, name);
            chunks = dataset.getSize() > 0 ? new Chunks(file, dataset, header, chunkBytes, fill) : null;
        }
        return new DatasetRows(file, dataset, chunks, fill);
    }

    /** Refuses chunks without elements, with other dimensions than their dataset, or too large for the heap; returns their length. */
    private static int requireChunks(DatasetBase dataset, ChunkedDataset chunked, int number, String name)
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
        long[] lengths = IntStream.of(chunk).asLongStream().toArray();
        return ChunkGrid.requireFit(lengths, dataset.getDataType().getSize(), number, name);
    }

    /** Returns the first row from {@code row} on that the file may contain, or {@code end} if those before it were never written. */
    long nextWritten(long row, long end) {
        if (chunks != null) {
            return Math.min(end, chunks.nextWritten(row));
        }
        return dataset instanceof ContiguousDataset && dataset.isEmpty() ? end : row;
    }

    /** Cuts the dataset into blocks of rows. */
    static List<RowBlocks.Block> blocks(DatasetBase dataset, int number, String name) throws BadSource {
        long[] shape = dataset.getDimensionsAsLong();
        int chunkRows = dataset instanceof ChunkedDataset chunked ? chunked.getChunkDimensions()[0] : 1;
        long[] atLeastOne = shape.length == 0 ? new long[] {1} : shape;
        return RowBlocks.of(atLeastOne, dataset.getDataType().getSize(), chunkRows, number, name);
    }

    /** Writes a block to its place in the array. */
    void write(RowBlocks.Block block, Output output, int offer) throws IOException {
        ByteBuffer target = output.at(offer, block.position(), block.byteSize());
        read(block.firstRow(), block.rows(), block.position(), target);
    }

    /** Fills a buffer with rows; {@code position} is that of the first row in the bytes of the dataset. */
    void read(long firstRow, long rows, long position, ByteBuffer target) throws IOException {
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
