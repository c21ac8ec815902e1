package dev.larder.client;

import dev.larder.internal.column.BytesBuilder;
import java.nio.ByteBuffer;

/**
 * Adds rows to a column of raw bytes, such as whole files, in a dataset that is being built. Either all rows have names or none has.
 * Belongs to its {@link DatasetBuilder}, which stores the rows when it publishes. Used by one thread at a time.
 */
public final class BytesWriter {
    private final BytesBuilder rows;

    BytesWriter(BytesBuilder rows) {
        this.rows = rows;
    }

    /** Adds the bytes that remain in a buffer as a row. */
    public void add(ByteBuffer row) {
        rows.add(row);
    }

    /** Adds the bytes that remain in a buffer as a row that has a name. */
    public void add(String name, ByteBuffer row) {
        rows.add(name, row);
    }

    /** Returns the number of rows added. */
    public long rows() {
        return rows.size();
    }
}
