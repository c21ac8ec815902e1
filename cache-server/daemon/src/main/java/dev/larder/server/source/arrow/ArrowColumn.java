package dev.larder.server.source.arrow;

import dev.larder.error.LarderException;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.server.source.Refusal;
import java.nio.file.Path;

/** Makes arrays of one field: is told where the field lies in each batch, and keeps no more than that. Not thread-safe. */
abstract class ArrowColumn implements AutoCloseable {
    /** Says which field of the next file it is read from. */
    void enter(ArrowField field) {}

    /** Takes some rows of a batch; its field comes next, and all that it is made of is gone through. */
    abstract void take(BatchCursor batch, long from, long to);

    /** Hands over the arrays. */
    abstract void addArrays(FoundArrays arrays);

    /** Gives up memory that no array has taken over. Idempotent. */
    @Override
    public void close() {}

    /** Reports a column of a sound file that no array can hold. Its other columns can be loaded. */
    static final class Unfit extends LarderException {
        private static final long serialVersionUID = 1;

        private final String column;
        private final String reason;

        Unfit(Path file, String column, String reason) {
            this(
                    column,
                    reason,
                    Refusal.unfit(
                            file,
                            "column " + column + ": " + reason,
                            "choose other columns with --columns, or convert it with pyarrow"));
        }

        private Unfit(String column, String reason, LarderException refusal) {
            super(refusal.rawCode(), String.valueOf(refusal.getMessage()), null);
            this.column = column;
            this.reason = reason;
        }

        /** Returns the reason, with the name of the column if it is a part of the named one. */
        String within(String name) {
            return column.equals(name) ? reason : column + ": " + reason;
        }

        /** Returns whether the column is a part of a field with this name, or the field. */
        boolean isOf(String name) {
            return column.startsWith(name)
                    && (column.length() == name.length() || "/.".indexOf(column.charAt(name.length())) >= 0);
        }
    }
}
