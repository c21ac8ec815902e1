package dev.larder.client;

import java.nio.ByteBuffer;

/** Builds a dataset of one array: fill it, then publish it. Used as {@link DatasetBuilder} is. */
public final class ArrayBuilder implements AutoCloseable {
    private final DatasetBuilder dataset;
    private final ArrayWriter writer;

    ArrayBuilder(DatasetBuilder dataset, ArrayWriter writer) {
        this.dataset = dataset;
        this.writer = writer;
    }

    /** Returns what writes the array. */
    public ArrayWriter writer() {
        return writer;
    }

    /** Writes what remains in a buffer, {@code offset} bytes after the start of the data. */
    public void write(long offset, ByteBuffer bytes) {
        writer.write(offset, bytes);
    }

    /** Makes the array visible, as the only one of its dataset's newest version, and closes this. */
    public void publish() {
        dataset.publish();
    }

    @Override
    public void close() {
        dataset.close();
    }
}
