package dev.larder.client;

import dev.larder.internal.column.TextIndexBuilder;
import java.nio.ByteBuffer;

/**
 * Adds keys to an index of strings in a dataset that is being built. Belongs to its {@link DatasetBuilder}, whose {@code publish} fails
 * with {@link dev.larder.error.ErrorCode#BAD_INPUT} if a key was added twice. Used by one thread at a time.
 */
public final class TextIndexWriter {
    private final TextIndexBuilder keys;

    TextIndexWriter(TextIndexBuilder keys) {
        this.keys = keys;
    }

    /** Adds a key and its row, which must not be negative. */
    public void add(CharSequence key, long row) {
        keys.add(key, row);
    }

    /** Adds the bytes that remain in a buffer as a key, with its row. They must be UTF-8 and are not checked. */
    public void addUtf8(ByteBuffer key, long row) {
        keys.addUtf8(key, row);
    }

    /** Returns the number of keys added. */
    public long keys() {
        return keys.size();
    }
}
