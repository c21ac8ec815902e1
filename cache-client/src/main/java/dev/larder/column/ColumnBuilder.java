package dev.larder.column;

import java.util.List;

/**
 * Builds the arrays of one column from rows or keys that are added one by one. Used by one thread at a time.
 *
 * <p>Keeps everything outside the heap; whoever makes a builder closes it, after the arrays have been stored.
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
     * Returns the arrays of the column that has this name. Nothing may be added after. They live until this builder is closed.
     * Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} where an index has a key twice.
     */
    public abstract List<ColumnArray> arrays(String column);

    /** Returns how many rows or keys were added. */
    public abstract long size();

    /** Gives the memory back, that of the arrays too. Idempotent. */
    @Override
    public abstract void close();
}
