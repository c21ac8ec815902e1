package dev.larder.client;

import dev.larder.internal.layout.ColumnPart;
import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;

/**
 * A column of strings. Thread-safe. Methods throw {@link IllegalStateException} after the dataset is closed, and
 * {@link IndexOutOfBoundsException} for a row out of range.
 */
public final class StringsColumn extends StoredColumn {
    StringsColumn(Dataset dataset, String column) {
        super(dataset, column, ColumnPart.STRINGS_BYTES, ColumnPart.STRINGS_OFFSETS);
        Columns.require(dataset, column, elements(), "|u1", 1);
    }

    /** Returns the text of a row, as a new string. */
    public String get(long row) {
        return new String(bytes(row), StandardCharsets.UTF_8);
    }

    /** Returns a window on the UTF-8 of a row, without copying. */
    public DirectBuffer utf8(long row) {
        return window(row);
    }

    /** Points the caller's window at a row's UTF-8, without copying. Allocates nothing. Refuses a row above 2 GiB. */
    public void utf8(long row, ViewBuffer window) {
        utf8(row, Long.MAX_VALUE, window);
    }

    /** Points a window at the first bytes of a row's UTF-8, at most {@code atMostBytes}, without copying. Allocates nothing. */
    public void utf8(long row, long atMostBytes, ViewBuffer window) {
        window(row, atMostBytes, window);
    }

    @Override
    public String toString() {
        return "StringsColumn{" + name() + " rows=" + rows() + "}";
    }
}
