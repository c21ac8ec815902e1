package dev.larder.reader.chunks;

import dev.larder.reader.BadSource;
import dev.larder.reader.Output;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Cuts an array into blocks of rows, each of whole chunks, so that none is unpacked twice. */
public final class RowBlocks {
    private static final long WANTED_BYTES = 8L << 20;

    private RowBlocks() {}

    /** Some rows of an array, with the place of their bytes in it. */
    public record Block(long firstRow, int rows, long position, int byteSize) {}

    /**
     * Refuses a shape with a length in bytes that exceeds a {@code long}, zeros counted as ones.
     *
     * @param file the number of its file, for a refusal
     * @param name its name, for a refusal
     */
    public static void requirePossible(long[] shape, long elementBytes, int file, String name) throws BadSource {
        long bytes = Math.max(1, elementBytes);
        for (long length : shape) {
            if (length < 0 || bytes > Long.MAX_VALUE / Math.max(1, length)) {
                throw BadSource.damaged(
                        file,
                        BadSource.NOWHERE,
                        name,
                        "it has the shape " + Arrays.toString(shape) + ", which is more than 2^63 bytes");
            }
            bytes *= Math.max(1, length);
        }
    }

    /**
     * Returns the blocks of an array; none if it has no bytes.
     *
     * @param shape its dimensions, at least one
     * @param chunkRows how many rows a chunk has; 1 if it has no chunks
     * @param file the number of its file, for a refusal
     * @param name its name, for a refusal
     */
    public static List<Block> of(long[] shape, long elementBytes, int chunkRows, int file, String name)
            throws BadSource {
        long rowBytes = elementBytes;
        for (int i = 1; i < shape.length; i++) {
            rowBytes = Math.multiplyExact(rowBytes, shape[i]);
        }
        if (rowBytes == 0 || shape[0] == 0) {
            return List.of();
        } else if (rowBytes > Output.MOST_BYTES) {
            throw new BadSource(
                    file,
                    BadSource.NOWHERE,
                    name,
                    "a row of it has " + rowBytes + " bytes, more than " + Output.MOST_BYTES,
                    "store it with more dimensions, or without chunks");
        }
        long step = Math.max(1, chunkRows);
        long rows = step * Math.max(1, WANTED_BYTES / (rowBytes * step));
        while (rows * rowBytes > Output.MOST_BYTES) {
            rows = (rows + 1) / 2;
        }
        List<Block> blocks = new ArrayList<>();
        for (long row = 0; row < shape[0]; row += rows) {
            int count = (int) Math.min(rows, shape[0] - row);
            blocks.add(new Block(row, count, row * rowBytes, (int) (count * rowBytes)));
        }
        return blocks;
    }
}
