package dev.larder.client;

import dev.larder.internal.layout.ColumnPart;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A column of raw bytes, such as whole files, whose rows may have names. Thread-safe. Methods throw
 * {@link IllegalStateException} after the dataset is closed, and {@link IndexOutOfBoundsException} for a row out of range.
 */
public final class BytesColumn {
    private static final String NAMES = "/names";

    private final String column;
    private final RowExtents extents;
    private final @Nullable StringsColumn names;

    private BytesColumn(String column, RowExtents extents, @Nullable StringsColumn names) {
        this.column = column;
        this.extents = extents;
        this.names = names;
    }

    static BytesColumn of(Dataset dataset, String column) {
        RowExtents extents = RowExtents.of(dataset, column, ColumnPart.BYTES_VALUES, ColumnPart.BYTES_OFFSETS);
        Columns.require(dataset, column, extents.values(), "|u1", 1);
        StringsColumn names =
                dataset.has(column + NAMES, ColumnPart.STRINGS_BYTES) ? dataset.strings(column + NAMES) : null;
        Columns.require(
                names == null || names.rows() == extents.rows(),
                dataset,
                column,
                "the numbers of names and rows differ");
        return new BytesColumn(column, extents, names);
    }

    /** Returns the name of the column. */
    public String name() {
        return column;
    }

    /** Returns the number of rows. */
    public long rows() {
        return extents.rows();
    }

    /** Returns the name of a row, such as the path of a file in its folder. Fails if the rows have no names. */
    public String name(long row) {
        if (names == null) {
            throw new UnsupportedOperationException("rows of this column have no names: column=" + column);
        }
        return names.get(row);
    }

    /** Returns the length of a row in bytes. */
    public long byteSize(long row) {
        return extents.byteSize(row);
    }

    /** Returns a window on a row, without copying. Refuses a row above 2 GiB. */
    public DirectBuffer row(long row) {
        return extents.window(row);
    }

    /** Points the caller's window at a row's bytes, without copying. Allocates nothing. Refuses a row above 2 GiB. */
    public void row(long row, ViewBuffer window) {
        row(row, Long.MAX_VALUE, window);
    }

    /** Points a window at the first bytes of a row, at most {@code atMostBytes}, without copying. Allocates nothing. */
    public void row(long row, long atMostBytes, ViewBuffer window) {
        extents.window(row, atMostBytes, window);
    }

    /** Copies a row to {@code targetOffset} and returns its length in bytes. Allocates nothing. */
    public int copy(long row, MutableDirectBuffer target, int targetOffset) {
        return extents.copy(row, target, targetOffset);
    }

    /**
     * Copies the first bytes of a row, at most {@code atMostBytes}, to {@code targetOffset} and returns their number. Allocates
     * nothing.
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
        return "BytesColumn{" + column + " rows=" + rows() + "}";
    }
}
