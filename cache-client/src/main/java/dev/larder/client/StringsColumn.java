package dev.larder.client;

import dev.larder.internal.layout.ColumnPart;
import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A column of strings. Thread-safe. Methods throw {@link IllegalStateException} after the dataset is closed, and
 * {@link IndexOutOfBoundsException} for a row out of range.
 */
public final class StringsColumn {
    private final String name;
    private final RowExtents extents;

    private StringsColumn(String name, RowExtents extents) {
        this.name = name;
        this.extents = extents;
    }

    static StringsColumn of(Dataset dataset, String column) {
        RowExtents extents = RowExtents.of(dataset, column, ColumnPart.STRINGS_BYTES, ColumnPart.STRINGS_OFFSETS);
        Columns.require(dataset, column, extents.values(), "|u1", 1);
        return new StringsColumn(column, extents);
    }

    /** Returns the name of the column. */
    public String name() {
        return name;
    }

    /** Returns the number of rows. */
    public long rows() {
        return extents.rows();
    }

    /** Returns the text of a row, as a new string. */
    public String get(long row) {
        return new String(extents.bytes(row), StandardCharsets.UTF_8);
    }

    /** Returns the length of a row's text in bytes of UTF-8. */
    public long byteSize(long row) {
        return extents.byteSize(row);
    }

    /** Returns a window on the UTF-8 of a row, without copying. */
    public DirectBuffer utf8(long row) {
        return extents.window(row);
    }

    /** Points the caller's window at a row's UTF-8, without copying. Allocates nothing. Refuses a row above 2 GiB. */
    public void utf8(long row, ViewBuffer window) {
        utf8(row, Long.MAX_VALUE, window);
    }

    /** Points a window at the first bytes of a row's UTF-8, at most {@code atMostBytes}, without copying. Allocates nothing. */
    public void utf8(long row, long atMostBytes, ViewBuffer window) {
        extents.window(row, atMostBytes, window);
    }

    /** Copies the UTF-8 of a row to {@code targetOffset} and returns its length in bytes. Allocates nothing. */
    public int copy(long row, MutableDirectBuffer target, int targetOffset) {
        return extents.copy(row, target, targetOffset);
    }

    /**
     * Copies the first bytes of a row's UTF-8, at most {@code atMostBytes}, to {@code targetOffset} and returns their number.
     * Allocates nothing.
     */
    public int copy(long row, long atMostBytes, MutableDirectBuffer target, int targetOffset) {
        return extents.copy(row, atMostBytes, target, targetOffset);
    }

    /** Returns whether the dataset of this column is open. */
    public boolean isOpen() {
        return extents.isOpen();
    }

    @Override
    public String toString() {
        return "StringsColumn{" + name + " rows=" + rows() + "}";
    }
}
