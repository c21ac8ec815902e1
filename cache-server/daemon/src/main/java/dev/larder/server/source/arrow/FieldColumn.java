package dev.larder.server.source.arrow;

import dev.larder.reader.arrow.ArrowField;
import org.jspecify.annotations.Nullable;

/** Makes the arrays of one field. Notes the places of its data in each batch, and no more. Not thread-safe. */
abstract class FieldColumn implements AutoCloseable {
    final String name;
    final Nulls nulls;

    /** Starts without rows; {@code above} has the nulls of the struct that contains the field, if any. */
    FieldColumn(String name, @Nullable Nulls above) {
        this.name = name;
        this.nulls = Nulls.ofRows(above);
    }

    /** Moves to the same field of the next file. */
    void enter(ArrowField field) {}

    /** Takes rows of a batch. The cursor is before the field, and afterwards behind the field and its children. */
    void take(BatchCursor batch, long from, long to) {
        nulls.take(batch, from, to);
        takeRows(batch, from, to);
    }

    /** Takes rows of the entered field. */
    abstract void takeRows(BatchCursor batch, long from, long to);

    /** Adds the arrays; they own the memory of the column from then on. */
    abstract void addArrays(FoundArrays arrays);

    /** Frees memory that no array owns. Idempotent. */
    @Override
    public void close() {}

    /** Reports a column of a sound file that no array can hold. Its other columns can be loaded. */
    static final class Unfit extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final String column;
        private final String reason;

        Unfit(String column, String reason) {
            super(column + ": " + reason, null, false, false);
            this.column = column;
            this.reason = reason;
        }

        /** Returns the reason, with the name of the column if it is a part of the named one. */
        String within(String name) {
            return column.equals(name) ? reason : column + ": " + reason;
        }
    }
}
