package dev.larder.client;

import dev.larder.internal.column.IntegerIndexBuilder;

/**
 * Adds keys to an index of integers in a dataset that is being built. Belongs to its {@link DatasetBuilder}, whose {@code publish} fails
 * with {@link dev.larder.error.ErrorCode#BAD_INPUT} if a key was added twice. Used by one thread at a time.
 */
public final class IntegerIndexWriter {
    private final IntegerIndexBuilder keys;

    IntegerIndexWriter(IntegerIndexBuilder keys) {
        this.keys = keys;
    }

    /** Adds a key and its row, which must not be negative. */
    public void add(long key, long row) {
        keys.add(key, row);
    }

    /** Returns the number of keys added. */
    public long keys() {
        return keys.size();
    }
}
