package dev.larder.internal.layout;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The part of an array in a column: an array {@code scene/slots} with the part {@link #INDEX_SLOTS} belongs to the column
 * {@code scene} of kind {@code index}. {@code ops/docs/reference/FORMAT.md} describes the contents of each part.
 */
public enum ColumnPart {
    NONE(0),
    RAGGED_VALUES(1),
    RAGGED_OFFSETS(2),
    RAGGED_SHAPES(3),
    STRINGS_BYTES(4),
    STRINGS_OFFSETS(5),
    INDEX_SLOTS(6),
    INDEX_RECORDS(7),
    INDEX_POSITIONS(8),
    INDEX_ENTRIES(9),
    BYTES_VALUES(10),
    BYTES_OFFSETS(11);

    private final int code;
    private final String kind;
    private final String suffix;

    ColumnPart(int code) {
        String word = code == 0 ? "_" : name().toLowerCase(Locale.ROOT);
        this.code = code;
        this.kind = word.substring(0, word.indexOf('_'));
        this.suffix = word.substring(kind.length() + 1);
    }

    /** Returns the number of this part in an index. */
    public int code() {
        return code;
    }

    /** Returns the kind of the column, such as {@code ragged}; empty for {@link #NONE}. */
    public String kind() {
        return kind;
    }

    /** Returns the last level of the array's name: {@code slots} for {@link #INDEX_SLOTS}; empty for {@link #NONE}. */
    public String suffix() {
        return suffix;
    }

    /** Returns the name of the array for this part of a column. */
    public String arrayName(String column) {
        return this == NONE ? column : column + "/" + suffix;
    }

    /** Returns the name of the column of an array with this name and part. */
    public String columnName(String array) {
        return this == NONE ? array : array.substring(0, array.length() - suffix.length() - 1);
    }

    /** Returns the part with this code, or null if only a newer release has it. */
    public static @Nullable ColumnPart of(int code) {
        return code >= 0 && code < values().length ? values()[code] : null;
    }
}
