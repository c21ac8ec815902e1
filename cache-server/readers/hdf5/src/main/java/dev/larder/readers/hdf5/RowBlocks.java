package dev.larder.readers.hdf5;

import dev.larder.reader.BadSource;
import dev.larder.reader.Output;
import io.jhdf.api.dataset.ChunkedDataset;
import io.jhdf.dataset.DatasetBase;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Cuts a dataset into blocks of rows, each of whole chunks, so that none is unpacked twice. */
final class RowBlocks {
    private static final long WANTED_BYTES = 8L << 20;

    private RowBlocks() {}

    /** Rows of a dataset, with the place of their bytes in the array. */
    record Block(int file, String name, long firstRow, int rows, long position, int byteSize) {}

    /** Returns the blocks of a dataset; none if it has no bytes. */
    static List<Block> of(DatasetBase dataset, int file, String name) throws BadSource {
        long[] dimensions = dataset.getDimensionsAsLong();
        long itemBytes = dataset.getDataType().getSize();
        if (dimensions.length == 0) {
            return List.of(new Block(file, name, 0, 0, 0, (int) itemBytes));
        }
        long rowBytes = itemBytes;
        for (int i = 1; i < dimensions.length; i++) {
            rowBytes = Math.multiplyExact(rowBytes, dimensions[i]);
        }
        long allRows = dimensions[0];
        if (rowBytes == 0 || allRows == 0) {
            return List.of();
        } else if (rowBytes > Output.MOST_BYTES) {
            throw new BadSource(
                    file,
                    BadSource.NOWHERE,
                    name,
                    "a row of it has " + rowBytes + " bytes, more than " + Output.MOST_BYTES,
                    "store it with more dimensions, or without chunks");
        }
        int step = dataset instanceof ChunkedDataset chunked ? Math.max(1, chunked.getChunkDimensions()[0]) : 1;
        long rows = step * Math.max(1, WANTED_BYTES / (rowBytes * step));
        while (rows * rowBytes > Output.MOST_BYTES) {
            rows = (rows + 1) / 2;
        }
        List<Block> blocks = new ArrayList<>();
        for (long row = 0; row < allRows; row += rows) {
            int count = (int) Math.min(rows, allRows - row);
            blocks.add(new Block(file, name, row, count, row * rowBytes, (int) (count * rowBytes)));
        }
        return blocks;
    }

    /** Unpacks a block to its place in the array. */
    static void write(DatasetRows rows, Block block, Output output, int offer) throws IOException {
        try {
            rows.read(block.firstRow, block.rows, block.position, output.at(offer, block.position, block.byteSize));
        } catch (RuntimeException | StackOverflowError e) {
            throw Unreadable.of(block.file, block.name, e);
        }
    }
}
