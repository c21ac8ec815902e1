package dev.larder.server.source.arrow;

import dev.larder.error.LarderException;
import dev.larder.server.source.Refusal;
import java.nio.file.Path;

/** Reports a column of a sound file that no array can hold. Its other columns can be loaded. */
final class UnfitColumn extends LarderException {
    private static final long serialVersionUID = 1;

    private final String column;
    private final String reason;

    UnfitColumn(Path file, String column, String reason) {
        this(
                column,
                reason,
                Refusal.unfit(
                        file,
                        "column " + column + ": " + reason,
                        "choose other columns with --columns, or convert it with pyarrow"));
    }

    private UnfitColumn(String column, String reason, LarderException refusal) {
        super(refusal.rawCode(), refusal.getMessage(), null);
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
