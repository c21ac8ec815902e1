package dev.larder.client;

import dev.larder.internal.DatasetUpload;
import dev.larder.internal.column.BytesBuilder;
import dev.larder.internal.column.ColumnBuilder;
import dev.larder.internal.column.IntegerIndexBuilder;
import dev.larder.internal.column.RaggedBuilder;
import dev.larder.internal.column.StringsBuilder;
import dev.larder.internal.column.TextIndexBuilder;
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
 * Builds a version of a dataset, array by array, invisible to readers until {@link #publish}. If it is closed before that, or if its
 * process dies, it leaves nothing behind, and the next process that waits for the dataset builds it.
 *
 * <p>Several threads may add arrays and columns and fill them through their writers. One thread publishes when all are done.
 */
public final class DatasetBuilder implements AutoCloseable {
    private final DatasetUpload upload;
    private final List<ArrayWriter> writers = new ArrayList<>();
    private final List<PendingColumn> columns = new ArrayList<>();
    private boolean open = true;
    private volatile boolean isPublished;

    DatasetBuilder(DatasetUpload upload) {
        this.upload = upload;
    }

    /** Returns the name of the dataset. */
    public String name() {
        return upload.name();
    }

    /**
     * Returns the folder where other programs may write {@code .npy} files, one per array, with subfolders for the levels of a
     * name. If the store belongs to another user, only this process can add arrays.
     */
    public Path folder() {
        return upload.folder();
    }

    /** Returns the writer of the only array, such as after {@link Larder#create}. Fails if there is not exactly one array. */
    public synchronized ArrayWriter array() {
        if (writers.size() != 1) {
            throw new IllegalStateException(
                    "there is not exactly one array, so keep the writer from array(name, ...): dataset=" + name()
                            + " arrays=" + writers.size());
        }
        return writers.get(0);
    }

    /** Adds an array of zeros in C order. */
    public ArrayWriter array(String array, Dtype dtype, long... shape) {
        return array(array, NpyHeader.of(dtype, Order.C, shape));
    }

    /** Adds an array of zeros. */
    public synchronized ArrayWriter array(String array, NpyHeader header) {
        ArrayWriter writer = new ArrayWriter(upload.array(array, header));
        writers.add(writer);
        return writer;
    }

    /**
     * Adds an array with the data of a channel, which must be exactly as long as the header says. Does not close the channel. If this
     * fails, the whole build is abandoned.
     */
    public void add(String array, NpyHeader header, ReadableByteChannel data) throws IOException {
        upload.add(array, header, data, ColumnPart.NONE);
    }

    /** Adds a column of strings. */
    public StringsWriter strings(String column) {
        return new StringsWriter(pending(column, new StringsBuilder()));
    }

    /** Adds a column of raw bytes. */
    public BytesWriter bytes(String column) {
        return new BytesWriter(pending(column, new BytesBuilder()));
    }

    /** Adds a ragged column, whose rows all have this dtype and number of dimensions. */
    public RaggedWriter ragged(String column, Dtype dtype, int dimensions) {
        return new RaggedWriter(pending(column, new RaggedBuilder(dtype, dimensions)));
    }

    /** Adds an index that maps strings to rows. */
    public TextIndexWriter textIndex(String column) {
        return new TextIndexWriter(pending(column, new TextIndexBuilder()));
    }

    /** Adds an index that maps integers to rows. */
    public IntegerIndexWriter integerIndex(String column) {
        return new IntegerIndexWriter(pending(column, new IntegerIndexBuilder()));
    }

    private synchronized <B extends ColumnBuilder> B pending(String column, B rows) {
        if (!open) {
            rows.close();
            throw new IllegalStateException("builder is closed: dataset=" + name());
        }
        columns.add(new PendingColumn(column, rows));
        return rows;
    }

    /**
     * Stores the columns, then makes everything visible together as the dataset's newest version, and closes this. Writers cannot write
     * any more.
     */
    public void publish() {
        try {
            for (PendingColumn column : pendingColumns()) {
                upload.add(column.name(), column.rows());
            }
            upload.publish(ProgressListener.NONE);
            isPublished = true;
        } finally {
            close();
        }
    }

    /** Returns whether {@link #publish()} has succeeded. */
    boolean isPublished() {
        return isPublished;
    }

    private synchronized List<PendingColumn> pendingColumns() {
        return List.copyOf(columns);
    }

    /** Abandons the build if it was not published. Idempotent. */
    @Override
    public void close() {
        try {
            upload.close();
        } finally {
            closeColumns();
        }
    }

    private synchronized void closeColumns() {
        open = false;
        columns.forEach(column -> column.rows().close());
        columns.clear();
    }

    /** A column whose rows are in this process's memory until they are stored. */
    private record PendingColumn(String name, ColumnBuilder rows) {}
}
