package dev.larder.server.source.formats;

import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The numbers of a table on their way from its rows to its columns: in blocks of some thousand rows, one column after the other
 * within each. What is more than one block lies in a temporary file without a name, which goes with this process at the latest.
 *
 * <p>Each number takes 8 bytes: an integer, or the bits of a double from the first number of its column that is no integer, or does not fit one
 * type with those before it.
 * Filled by one thread; then read by any.
 */
final class NumberTable implements AutoCloseable {
    /** Numbers in a block, unless a single row has more. */
    static final int BLOCK_NUMBERS = 1 << 18;

    private static final long NEVER = Long.MAX_VALUE;

    private final Path file;
    private final LongConsumer beforeSpill;
    private final int columns;
    private final int blockRows;
    private final long[] firstReal;
    private final boolean[] hasNegative;
    private final boolean[] hasUnsigned;
    private long[] block;
    private long rows;
    private @Nullable FileChannel spilled;

    /**
     * Starts an empty one.
     *
     * @param file what failures name
     * @param beforeSpill told how many more bytes are about to be written to a temporary file
     */
    NumberTable(Path file, int columns, LongConsumer beforeSpill) {
        this.file = file;
        this.beforeSpill = beforeSpill;
        this.columns = columns;
        this.blockRows = Math.max(1, BLOCK_NUMBERS / columns);
        this.firstReal = new long[columns];
        Arrays.fill(firstReal, NEVER);
        this.hasNegative = new boolean[columns];
        this.hasUnsigned = new boolean[columns];
        this.block = new long[Math.min(64, blockRows) * columns];
    }

    /** Adds an integer to the current row; only to a column that is {@link #isWhole}. */
    void add(int column, long integer) {
        block[place(column)] = integer;
    }

    /** Adds an integer to the current row if those of the column still fit int64, or uint64. */
    boolean isAdded(int column, long integer, boolean isUnsigned) {
        boolean isNegative = !isUnsigned && integer < 0;
        if (!isWhole(column) || (isUnsigned && hasNegative[column]) || (isNegative && hasUnsigned[column])) {
            return false;
        }
        hasUnsigned[column] |= isUnsigned;
        hasNegative[column] |= isNegative;
        block[place(column)] = integer;
        return true;
    }

    /** Adds a double to the current row; from now on the column holds doubles. */
    void add(int column, double real) {
        firstReal[column] = Math.min(firstReal[column], rows);
        block[place(column)] = Double.doubleToRawLongBits(real);
    }

    /** Returns whether a column has had nothing but integers. */
    boolean isWhole(int column) {
        return firstReal[column] == NEVER;
    }

    /** Returns whether integers of a column are below 0. */
    boolean hasNegative(int column) {
        return hasNegative[column];
    }

    /** Returns whether integers of a column are 2^63 or more, in the bits of a long. */
    boolean hasUnsigned(int column) {
        return hasUnsigned[column];
    }

    /** Ends the current row. */
    void endRow() throws IOException {
        rows++;
        int inBlock = (int) (rows % blockRows);
        if (inBlock == 0) {
            spill();
        } else if (inBlock * columns == block.length) {
            grow();
        }
    }

    /** Ends the table. */
    void end() throws IOException {
        if (spilled != null && rows % blockRows != 0) {
            spill();
        }
        if (spilled != null) {
            block = new long[0];
        }
    }

    long rows() {
        return rows;
    }

    int columns() {
        return columns;
    }

    int blockRows() {
        return blockRows;
    }

    /** Returns whether all of it lies in memory, so that reading the source again costs little. */
    boolean isSmall() {
        return spilled == null;
    }

    /** Returns the row from which on a column holds doubles. */
    long firstReal(int column) {
        return firstReal[column];
    }

    /**
     * Reads some adjacent columns of a block. Column {@code c} of row {@code r} of the block comes at
     * {@code (c - first) * rowsOf(number) + r}.
     */
    void read(long number, int first, int count, long[] target) throws IOException {
        int blockLength = rowsOf(number);
        FileChannel channel = spilled;
        if (channel == null) {
            int stride = block.length / columns;
            for (int c = 0; c < count; c++) {
                System.arraycopy(block, (first + c) * stride, target, c * blockLength, blockLength);
            }
            return;
        }
        ByteBuffer bytes = ByteBuffer.allocate(count * blockLength * Long.BYTES).order(ByteOrder.nativeOrder());
        long offset = (number * blockRows * columns + (long) first * blockLength) * Long.BYTES;
        while (bytes.hasRemaining()) {
            if (channel.read(bytes, offset + bytes.position()) < 0) {
                throw new IOException("temporary file of a table has been cut: file=" + file);
            }
        }
        bytes.flip().asLongBuffer().get(target, 0, count * blockLength);
    }

    /** Returns how many rows a block has: only the last has fewer than the others. */
    int rowsOf(long number) {
        return (int) Math.min(blockRows, rows - number * blockRows);
    }

    private int place(int column) {
        return column * (block.length / columns) + (int) (rows % blockRows);
    }

    private void grow() {
        int stride = block.length / columns;
        int wider = Math.min(blockRows, stride * 2);
        long[] larger = new long[wider * columns];
        for (int c = 0; c < columns; c++) {
            System.arraycopy(block, c * stride, larger, c * wider, stride);
        }
        block = larger;
    }

    private void spill() throws IOException {
        FileChannel channel = spilled == null ? newSpill() : spilled;
        spilled = channel;
        int stride = block.length / columns;
        int filled = (int) ((rows - 1) % blockRows) + 1;
        beforeSpill.accept((long) filled * columns * Long.BYTES);
        ByteBuffer bytes = ByteBuffer.allocate(filled * columns * Long.BYTES).order(ByteOrder.nativeOrder());
        for (int c = 0; c < columns; c++) {
            bytes.asLongBuffer().put(block, c * stride, filled);
            bytes.position(bytes.position() + filled * Long.BYTES);
        }
        bytes.flip();
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    private static FileChannel newSpill() throws IOException {
        Path path = Files.createTempFile("larder-table-", "");
        try {
            return FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        } finally {
            Files.delete(path);
        }
    }

    /** Frees the temporary file. Idempotent. */
    @Override
    public void close() {
        FileChannel channel = spilled;
        if (channel == null) {
            return;
        }
        try {
            channel.close();
        } catch (IOException e) {
            throw Refusal.unreadable(file, 0, "temporary file: ", e);
        }
    }
}
