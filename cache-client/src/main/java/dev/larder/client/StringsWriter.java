package dev.larder.client;

import dev.larder.internal.column.StringsBuilder;
import java.nio.ByteBuffer;

/**
 * Adds rows to a column of strings in a dataset that is being built. Belongs to its {@link DatasetBuilder}, which stores the rows when it
 * publishes. Used by one thread at a time.
 */
public final class StringsWriter {
    private final StringsBuilder rows;

    StringsWriter(StringsBuilder rows) {
        this.rows = rows;
    }

    /** Adds a row. Fails with {@link dev.larder.error.ErrorCode#BAD_INPUT} if the text has an unpaired surrogate. */
    public void add(CharSequence text) {
        rows.add(text);
    }

    /** Adds the bytes that remain in a buffer as a row. They must be UTF-8 and are not checked. */
    public void addUtf8(ByteBuffer text) {
        rows.addUtf8(text);
    }

    /** Returns the number of rows added. */
    public long rows() {
        return rows.size();
    }
}
