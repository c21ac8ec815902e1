package dev.larder.internal.layout;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The part that an array plays in a column: an array {@code scene/slots} with the part {@link #INDEX_SLOTS} belongs to the column
 * {@code scene} of kind {@link ColumnKind#INDEX}. {@code ops/docs/FORMAT.md} says what each part holds.
 */
public enum ColumnPart {
    NONE(0, null),
    RAGGED_VALUES(1, ColumnKind.RAGGED),
    RAGGED_OFFSETS(2, ColumnKind.RAGGED),
    RAGGED_SHAPES(3, ColumnKind.RAGGED),
    STRINGS_BYTES(4, ColumnKind.STRINGS),
    STRINGS_OFFSETS(5, ColumnKind.STRINGS),
    INDEX_SLOTS(6, ColumnKind.INDEX),
    INDEX_RECORDS(7, ColumnKind.INDEX),
    INDEX_POSITIONS(8, ColumnKind.INDEX),
    INDEX_ENTRIES(9, ColumnKind.INDEX),
    BYTES_VALUES(10, ColumnKind.BYTES),
    BYTES_OFFSETS(11, ColumnKind.BYTES);

    private final int code;
    private final @Nullable ColumnKind kind;

    ColumnPart(int code, @Nullable ColumnKind kind) {
        this.code = code;
        this.kind = kind;
    }

    /** Returns the number that stands for this in an index. */
    public int code() {
        return code;
    }

    /** Returns the kind of column that this is part of; null for {@link #NONE}. */
    public @Nullable ColumnKind kind() {
        return kind;
    }

    /** Returns the last level of the array's name: {@code slots} for {@link #INDEX_SLOTS}; empty for {@link #NONE}. */
    public String suffix() {
        return kind == null ? "" : name().substring(kind.name().length() + 1).toLowerCase(Locale.ROOT);
    }

    /** Returns the name of the array that plays this part in a column. */
    public String arrayName(String column) {
        return kind == null ? column : column + "/" + suffix();
    }

    /** Returns the name of the column that an array of this name, playing this part, belongs to. */
    public String columnName(String array) {
        return kind == null ? array : array.substring(0, array.length() - suffix().length() - 1);
    }

    /** Returns the part with this code; null where a newer release has one that this one does not know. */
    public static @Nullable ColumnPart of(int code) {
        return code >= 0 && code < values().length ? values()[code] : null;
    }
}
