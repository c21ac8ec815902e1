package dev.larder.readers.parquet;

import dev.hardwood.metadata.LogicalType;
import dev.hardwood.metadata.PhysicalType;
import dev.hardwood.schema.ColumnSchema;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a column becomes.
 *
 * @param form how its rows are stored
 * @param dtype the type of its elements, as numpy describes it
 * @param itemBytes how long an element is
 */
record ColumnKind(Form form, String dtype, int itemBytes) {
    enum Form {
        NUMBERS,
        STRINGS,
        BYTES,
        LISTS
    }

    /** Returns the kind of a column, null if numpy has no such type; {@code duration} is the unit of bare integers that are durations. */
    static @Nullable ColumnKind of(ColumnSchema column, @Nullable String duration) {
        boolean isDuration = duration != null && column.type() == PhysicalType.INT64 && column.logicalType() == null;
        ColumnKind kind = isDuration ? number("<m8[" + duration + "]", Long.BYTES) : ofValue(column);
        if (kind == null || column.maxRepetitionLevel() == 0) {
            return kind;
        }
        boolean isListOfNumbers = column.maxRepetitionLevel() == 1 && kind.form == Form.NUMBERS;
        return isListOfNumbers ? new ColumnKind(Form.LISTS, kind.dtype, kind.itemBytes) : null;
    }

    private static @Nullable ColumnKind ofValue(ColumnSchema column) {
        LogicalType logical = column.logicalType();
        return switch (column.type()) {
            case BOOLEAN -> number("|b1", 1);
            case FLOAT -> number("<f4", Float.BYTES);
            case DOUBLE -> number("<f8", Double.BYTES);
            case INT32, INT64 -> contradictsItself(column) ? null : integer(column.type(), logical);
            case BYTE_ARRAY -> bytes(logical);
            case FIXED_LEN_BYTE_ARRAY -> fixed(logical, column.typeLength());
            case INT96 -> null;
        };
    }

    /** Returns whether a column's logical type is for integers of another width: its numbers would be others. */
    static boolean contradictsItself(ColumnSchema column) {
        boolean isNarrow = column.type() == PhysicalType.INT32;
        LogicalType logical = column.logicalType();
        if (logical == null || !(isNarrow || column.type() == PhysicalType.INT64)) {
            return false;
        }
        return switch (logical) {
            case LogicalType.IntType integer -> isNarrow == integer.bitWidth() > Integer.SIZE;
            case LogicalType.DateType date -> !isNarrow;
            case LogicalType.TimestampType timestamp -> isNarrow;
            case LogicalType.TimeType time -> isNarrow != (time.unit() == LogicalType.TimeUnit.MILLIS);
            default -> false;
        };
    }

    boolean isUnsigned() {
        return dtype.charAt(1) == 'u';
    }

    private static ColumnKind number(String dtype, int itemBytes) {
        return new ColumnKind(Form.NUMBERS, dtype, itemBytes);
    }

    private static @Nullable ColumnKind integer(PhysicalType type, @Nullable LogicalType logical) {
        int bytes = type == PhysicalType.INT32 ? Integer.BYTES : Long.BYTES;
        if (logical == null) {
            return number("<i" + bytes, bytes);
        } else if (logical instanceof LogicalType.IntType integer) {
            int width = integer.bitWidth() / Byte.SIZE;
            String order = width == 1 ? "|" : "<";
            return number(order + (integer.isSigned() ? "i" : "u") + width, width);
        } else if (logical instanceof LogicalType.DateType) {
            return number("<M8[D]", Long.BYTES);
        } else if (logical instanceof LogicalType.TimestampType timestamp) {
            return number("<M8[" + unit(timestamp.unit()) + "]", Long.BYTES);
        } else if (logical instanceof LogicalType.TimeType time) {
            return number("<m8[" + unit(time.unit()) + "]", Long.BYTES);
        }
        return null; // decimals, which numpy has not
    }

    private static String unit(LogicalType.TimeUnit unit) {
        return switch (unit.name().toUpperCase(Locale.ROOT)) {
            case "MILLIS" -> "ms";
            case "MICROS" -> "us";
            default -> "ns";
        };
    }

    private static @Nullable ColumnKind bytes(@Nullable LogicalType logical) {
        if (logical == null || logical instanceof LogicalType.BsonType) {
            return new ColumnKind(Form.BYTES, "|u1", 1);
        }
        boolean isText = logical instanceof LogicalType.StringType
                || logical instanceof LogicalType.EnumType
                || logical instanceof LogicalType.JsonType;
        return isText ? new ColumnKind(Form.STRINGS, "|u1", 1) : null;
    }

    private static @Nullable ColumnKind fixed(@Nullable LogicalType logical, @Nullable Integer length) {
        if (length == null || length <= 0) {
            return null;
        } else if (logical instanceof LogicalType.Float16Type) {
            return number("<f2", 2);
        }
        return logical == null || logical instanceof LogicalType.UuidType ? number("|V" + length, length) : null;
    }
}
