package dev.larder.client;

import dev.larder.column.ColumnBuilder;
import dev.larder.internal.DatasetUpload;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.io.IOException;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Builds a version of a dataset, array by array, invisible to readers until {@link #publish}. If it is closed before, or its
 * process dies, nothing is left behind, and the next process that waits for the dataset builds it.
 *
 * <p>Several threads may add arrays, and fill them through the writers that it hands out; one of them publishes when all are done.
 */
public final class DatasetBuilder implements AutoCloseable {
    private final DatasetUpload upload;
    private final List<ArrayWriter> writers = new ArrayList<>();

    DatasetBuilder(DatasetUpload upload) {
        this.upload = upload;
    }

    /** Returns the name of the dataset. */
    public String name() {
        return upload.name();
    }

    /**
     * Returns the folder that other programs may write {@code .npy} files into, one an array, levels of names as folders. In the
     * store of another user only this process can add arrays.
     */
    public Path folder() {
        return upload.folder();
    }

    /** Returns what writes the array, where just one was added to be filled, such as by {@link Larder#create}. */
    public synchronized ArrayWriter array() {
        if (writers.size() != 1) {
            throw new IllegalStateException("not one array to fill, so keep what array(name, ...) returns: dataset="
                    + name() + " arrays=" + writers.size());
        }
        return writers.get(0);
    }

    /** Adds an array of zeros in C order, to be filled. */
    public ArrayWriter array(String array, Dtype dtype, long... shape) {
        return array(array, NpyHeader.of(dtype, Order.C, shape));
    }

    /** Adds an array of zeros, to be filled. */
    public synchronized ArrayWriter array(String array, NpyHeader header) {
        ArrayWriter writer = new ArrayWriter(upload.array(array, header));
        writers.add(writer);
        return writer;
    }

    /**
     * Adds an array with the data that a channel delivers, exactly as long as the header says. The channel is not closed. Where this
     * fails the build is given up.
     */
    public void add(String array, NpyHeader header, ReadableByteChannel data) throws IOException {
        upload.add(array, header, data, ColumnPart.NONE);
    }

    /** Adds a column with the rows or keys that a builder has taken. After that the builder can only be closed, by its caller. */
    public void add(String column, ColumnBuilder rows) throws IOException {
        upload.add(column, rows);
    }

    /** Makes everything visible at once as the dataset's newest version, and closes this. Writers cannot write any more. */
    public void publish() {
        upload.publish(ProgressListener.NONE);
    }

    /** Gives up what was not published. Idempotent. */
    @Override
    public void close() {
        upload.close();
    }
}
