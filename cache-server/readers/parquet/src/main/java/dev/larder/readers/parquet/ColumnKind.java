package dev.larder.readers.parquet;

import dev.hardwood.metadata.LogicalType;
import dev.hardwood.metadata.PhysicalType;
import dev.hardwood.schema.ColumnSchema;
import dev.larder.reader.arrow.ArrowField;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The arrays of a column.
 *
 * @param form how its rows are stored
 * @param dtype the type of its elements, as numpy describes it
 * @param itemBytes the length of a value; one of fixed-length bytes has several elements
 * @param lists the lists that a row consists of, from the outer one on: the number of elements of each, {@link #ANY_LENGTH} if they differ
 * @param cell the dimensions of a row of an array
 * @param change how the file's values become those of the dtype
 * @param words the kind of the words that codes number; null for other columns
 */
record ColumnKind(
        Form form,
        String dtype,
        int itemBytes,
        List<Integer> lists,
        List<Long> cell,
        Change change,
        @Nullable ColumnKind words) {
    /** Stands for lists that are not all as long. */
    static final int ANY_LENGTH = -1;

    /** The type of codes if no single dictionary gives one. */
    private static final String INTEGERS = "<i4";

    /** Keeps its own copies. */
    ColumnKind {
        lists = List.copyOf(lists);
        cell = List.copyOf(cell);
    }

    enum Form {
        NUMBERS,
        STRINGS,
        BYTES,
        LISTS,
        CODES
    }

    /** How values change. Parquet has no seconds, and no dates in milliseconds, so writers convert them. */
    enum How {
        SAME,
        SECONDS_OF_MILLISECONDS,
        MILLISECONDS_OF_DAYS,
        NANOSECONDS_OF_INT96,
        INTEGERS_OF_DECIMALS,
        DOUBLES_OF_DECIMALS,
        /** The file has no values: each row is null. */
        NOTHING
    }

    /**
     * A change of values.
     *
     * @param digits those behind the point of a decimal; 0 for other values
     */
    record Change(How how, int digits) {
        static final Change SAME = new Change(How.SAME, 0);
    }

    private static ColumnKind of(Form form, String dtype, int itemBytes) {
        return of(form, dtype, itemBytes, Change.SAME);
    }

    private static ColumnKind of(Form form, String dtype, int itemBytes, Change change) {
        return new ColumnKind(form, dtype, itemBytes, List.of(), List.of(), change, null);
    }

    /**
     * Returns the kind of a value; null if numpy has no such type.
     *
     * @param field the same column in the Arrow schema of the file; null if there is none. Its type counts if
     *     writers store it in that way
     */
    static @Nullable ColumnKind of(ColumnSchema column, @Nullable ArrowField field) {
        ColumnKind kind = ofValue(column);
        if (kind == null || field == null) {
            return kind;
        } else if (field.encoding() != null) {
            return coded(kind, field, field.encoding());
        }
        boolean isBare = column.type() == PhysicalType.INT64 && column.logicalType() == null;
        String said = field.type();
        if (isBare && said.startsWith("<m8[") && field.kind() == ArrowField.Kind.FIXED) {
            return number(said, Long.BYTES); // a duration
        } else if (said.equals("<M8[s]") && kind.dtype.equals("<M8[ms]")) {
            return changed(said, How.SECONDS_OF_MILLISECONDS, 0);
        } else if (said.equals("<m8[s]") && kind.dtype.equals("<m8[ms]")) {
            return changed(said, How.SECONDS_OF_MILLISECONDS, 0);
        } else if (said.equals("<M8[ms]") && kind.dtype.equals("<M8[D]")) {
            return changed(said, How.MILLISECONDS_OF_DAYS, 0);
        }
        return kind;
    }

    /** Returns the kind of numbers of eight bytes that the file has in another form. */
    private static ColumnKind changed(String dtype, How how, int digits) {
        return of(Form.NUMBERS, dtype, Long.BYTES, new Change(how, digits));
    }

    /** Returns whether its numbers are decimals without their point. */
    boolean isScaled() {
        return change.how == How.INTEGERS_OF_DECIMALS;
    }

    /** Returns the kind of decimals as the nearest doubles; the same kind for other values. */
    ColumnKind withDoubles() {
        Change doubles = new Change(How.DOUBLES_OF_DECIMALS, change.digits);
        return isScaled() ? new ColumnKind(form, "<f8", itemBytes, lists, cell, doubles, null) : this;
    }

    /** Returns the kind of numbers that stand for texts, bytes or numbers, as a dictionary of Arrow has them; else the kind itself. */
    private static ColumnKind coded(ColumnKind kind, ArrowField field, ArrowField.Encoding encoding) {
        boolean isSame = switch (field.kind()) {
            case TEXTS, TEXT_VIEWS -> kind.form == Form.STRINGS;
            case BYTES, BYTES_VIEWS -> kind.form == Form.BYTES;
            case FIXED ->
                kind.form == Form.NUMBERS && kind.dtype.equals(field.type()) && !kind.isScaled();
            default -> false;
        };
        return isSame
                ? new ColumnKind(Form.CODES, encoding.type(), encoding.size(), List.of(), List.of(), Change.SAME, kind)
                : kind;
    }

    /**
     * Returns a kind for the values of two files of a table; null if there is none. If the dictionaries of two files have different types of
     * codes, they count as different dictionaries. Codes and plain values together are plain values. Lists of two lengths are ragged. A file
     * with nulls only fits any kind outside of lists.
     */
    @Nullable
    ColumnKind with(ColumnKind other) {
        if (equals(other) || equals(other.words) || (other.isOfNulls() && lists.isEmpty())) {
            return this;
        } else if (other.equals(words) || (isOfNulls() && other.lists.isEmpty())) {
            return other;
        } else if (words != null && words.equals(other.words)) {
            return new ColumnKind(Form.CODES, INTEGERS, Integer.BYTES, lists, cell, change, words);
        }
        boolean isOfLists = !lists.isEmpty() && lists.size() == other.lists.size() && !lists.equals(other.lists);
        return isOfLists && dtype.equals(other.dtype) && change.equals(other.change)
                ? inLists(lengthsWith(other), List.of())
                : null;
    }

    private boolean isOfNulls() {
        return change.how == How.NOTHING;
    }

    private List<Integer> lengthsWith(ColumnKind other) {
        List<Integer> lengths = new ArrayList<>();
        for (int depth = 0; depth < lists.size(); depth++) {
            int length = lists.get(depth);
            lengths.add(length == other.lists.get(depth) ? length : ANY_LENGTH);
        }
        return lengths;
    }

    /** Returns whether a value is a number, which lists may consist of. */
    boolean isScalar() {
        return form == Form.NUMBERS && cell.isEmpty();
    }

    /** Returns the kind of rows that are lists of these numbers; {@code shape} is that of a row if all lists have their lengths. */
    ColumnKind inLists(List<Integer> lengths, List<Long> shape) {
        boolean isArray = !lengths.contains(ANY_LENGTH);
        return new ColumnKind(
                isArray ? Form.NUMBERS : Form.LISTS,
                dtype,
                itemBytes,
                lengths,
                isArray ? shape : List.of(),
                change,
                null);
    }

    /** Returns how many values a row of an array has. */
    long valuesOfRow() {
        return lists.stream().mapToLong(Integer::longValue).reduce(1, ColumnKind::product);
    }

    /** Returns the product of two numbers that are not negative; the greatest number if there is none so large. */
    static long product(long one, long other) {
        return one != 0 && other > Long.MAX_VALUE / one ? Long.MAX_VALUE : one * other;
    }

    /** Returns how many bytes a row of an array has. */
    long rowBytes() {
        return product(valuesOfRow(), itemBytes);
    }

    private static @Nullable ColumnKind ofValue(ColumnSchema column) {
        LogicalType logical = column.logicalType();
        if (logical instanceof LogicalType.NullType) {
            Change nothing = new Change(How.NOTHING, 0);
            return column.maxDefinitionLevel() == 0 ? null : of(Form.BYTES, "|u1", 1, nothing);
        } else if (logical instanceof LogicalType.DecimalType decimal) {
            return decimal(column.type(), decimal.scale());
        }
        return switch (column.type()) {
            case BOOLEAN -> number("|b1", 1);
            case FLOAT -> number("<f4", Float.BYTES);
            case DOUBLE -> number("<f8", Double.BYTES);
            case INT32, INT64 -> contradictsItself(column) ? null : integer(column.type(), logical);
            case BYTE_ARRAY -> bytes(logical);
            case FIXED_LEN_BYTE_ARRAY -> fixed(logical, column.typeLength());
            case INT96 -> changed("<M8[ns]", How.NANOSECONDS_OF_INT96, 0);
        };
    }

    private static @Nullable ColumnKind decimal(PhysicalType type, int digits) {
        return switch (type) {
            case INT32, INT64, BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY ->
                changed("<i8", How.INTEGERS_OF_DECIMALS, digits);
            default -> null;
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
        return of(Form.NUMBERS, dtype, itemBytes);
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
        return null;
    }

    private static String unit(LogicalType.TimeUnit unit) {
        return switch (unit.name().toUpperCase(Locale.ROOT)) {
            case "MILLIS" -> "ms";
            case "MICROS" -> "us";
            default -> "ns";
        };
    }

    private static @Nullable ColumnKind bytes(@Nullable LogicalType logical) {
        boolean isGeometry =
                logical instanceof LogicalType.GeometryType || logical instanceof LogicalType.GeographyType;
        if (logical == null || logical instanceof LogicalType.BsonType || isGeometry) {
            return of(Form.BYTES, "|u1", 1);
        }
        boolean isText = logical instanceof LogicalType.StringType
                || logical instanceof LogicalType.EnumType
                || logical instanceof LogicalType.JsonType;
        return isText ? of(Form.STRINGS, "|u1", 1) : null;
    }

    private static @Nullable ColumnKind fixed(@Nullable LogicalType logical, @Nullable Integer length) {
        if (length == null || length <= 0) {
            return null;
        } else if (logical instanceof LogicalType.Float16Type) {
            return number("<f2", 2);
        }
        boolean isBytes = logical == null || logical instanceof LogicalType.UuidType;
        List<Long> cell = List.of((long) length);
        return isBytes ? new ColumnKind(Form.NUMBERS, "|u1", length, List.of(), cell, Change.SAME, null) : null;
    }

    /** Returns the kind in words, for people who compare two. */
    String description() {
        String ofLists = form == Form.LISTS ? " of " + lists.size() + " dimensions" : "";
        String ofDecimals = isScaled() ? " of decimals with " + change.digits + " digits behind the point" : "";
        return dtype + " " + form + ofLists + (cell.isEmpty() ? "" : " " + cell) + ofDecimals
                + (words == null ? "" : " of " + words.description());
    }
}
