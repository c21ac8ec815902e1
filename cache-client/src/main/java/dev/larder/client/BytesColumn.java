package dev.larder.client;

import dev.larder.internal.layout.ColumnPart;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A column of raw bytes, such as whole files, whose rows may have names. Thread-safe. Methods throw
 * {@link IllegalStateException} after the dataset is closed, and {@link IndexOutOfBoundsException} for a row out of range.
 */
public final class BytesColumn extends StoredColumn {
    private static final String NAMES = "/names";

    private final @Nullable StringsColumn names;

    BytesColumn(Dataset dataset, String column) {
        super(dataset, column, ColumnPart.BYTES_VALUES, ColumnPart.BYTES_OFFSETS);
        Columns.require(dataset, column, elements(), "|u1", 1);
        names = dataset.has(column + NAMES, ColumnPart.STRINGS_BYTES) ? dataset.strings(column + NAMES) : null;
        Columns.require(
                names == null || names.rows() == rows(), dataset, column, "the numbers of names and rows differ");
    }

    /** Returns the name of a row, such as the path of a file in its folder. Fails if the rows have no names. */
    public String name(long row) {
        if (names == null) {
            throw new UnsupportedOperationException("rows of this column have no names: column=" + name());
        }
        return names.get(row);
    }

    /** Returns a window on a row, without copying. Refuses a row above 2 GiB. */
    public DirectBuffer row(long row) {
        return window(row);
    }

    /** Points the caller's window at a row's bytes, without copying. Allocates nothing. Refuses a row above 2 GiB. */
    public void row(long row, ViewBuffer window) {
        row(row, Long.MAX_VALUE, window);
    }

    /** Points a window at the first bytes of a row, at most {@code atMostBytes}, without copying. Allocates nothing. */
    public void row(long row, long atMostBytes, ViewBuffer window) {
        window(row, atMostBytes, window);
    }

    @Override
    public String toString() {
        return "BytesColumn{" + name() + " rows=" + rows() + "}";
    }
}
