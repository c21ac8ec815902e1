package dev.larder.client;

import dev.larder.internal.column.RaggedBuilder;
import java.nio.ByteBuffer;

/**
 * Adds rows to a ragged column in a dataset that is being built. All rows have the same dtype and number of dimensions, and each has its
 * own shape. Belongs to its {@link DatasetBuilder}, which stores the rows when it publishes. Used by one thread at a time.
 */
public final class RaggedWriter {
    private final RaggedBuilder rows;

    RaggedWriter(RaggedBuilder rows) {
        this.rows = rows;
    }

    /**
     * Adds the elements that remain in a buffer as a row, in C order and in the byte order of the dtype. Fails with
     * {@link dev.larder.error.ErrorCode#BAD_INPUT} if their number or the number of dimensions is wrong.
     */
    public void add(ByteBuffer row, long... shape) {
        rows.add(row, shape);
    }

    /** Returns the number of rows added. */
    public long rows() {
        return rows.size();
    }
}
