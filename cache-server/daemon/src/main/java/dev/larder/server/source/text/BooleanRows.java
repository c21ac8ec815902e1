package dev.larder.server.source.text;

import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.ElementsBuilder;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;

/** Builds an array with true in some rows. Not thread-safe. */
final class BooleanRows implements AutoCloseable {
    private static final Dtype BOOLEAN = Dtype.parse("|b1");
    private static final int BLOCK_BYTES = 256;

    private final ElementsBuilder elements;
    private final ByteBuffer block = ByteBuffer.allocate(BLOCK_BYTES);
    private long count;
    private boolean isAny;

    BooleanRows(ColumnMemory memory) {
        this.elements = new ElementsBuilder(memory);
    }

    /** Returns whether any row is true. */
    boolean isAny() {
        return isAny;
    }

    /** Makes a row true, and the rows since the last call false. */
    void set(long row) {
        fill(row);
        put((byte) 1);
        isAny = true;
    }

    private void fill(long rows) {
        while (count < rows) {
            put((byte) 0);
        }
    }

    private void put(byte value) {
        if (!block.hasRemaining()) {
            flush();
        }
        block.put(value);
        count++;
    }

    private void flush() {
        elements.add(block.flip());
        block.clear();
    }

    /** Returns the array of all rows. */
    ColumnArray array(String name, long rows) {
        fill(rows);
        flush();
        return elements.array(name, BOOLEAN, rows);
    }

    @Override
    public void close() {
        elements.close();
    }
}
