package dev.larder.internal.column;

import java.util.List;

/**
 * Builds the arrays of one column from rows or keys that are added one by one. Not thread-safe.
 *
 * <p>Stores everything outside the heap. The owner closes the builder after the arrays have been stored.
 */
public abstract sealed class ColumnBuilder implements AutoCloseable
        permits BytesBuilder,
                IntegerIndexBuilder,
                RaggedBuilder,
                RowShapes,
                RowOffsets,
                StringsBuilder,
                TextIndexBuilder {
    /**
     * Returns the arrays of the column with this name. Nothing can be added afterwards. The arrays live until this builder is
     * closed. Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} if an index has a key twice.
     */
    public abstract List<ColumnArray> arrays(String column);

    /** Returns the number of rows or keys added. */
    public abstract long size();

    /** Frees the memory, including that of the arrays. Idempotent. */
    @Override
    public abstract void close();
}
