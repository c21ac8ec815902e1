package dev.larder.reader.arrow;

import dev.larder.reader.arrow.ArrowField.Kind;
import dev.larder.reader.arrow.ArrowSchema.Malformed;
import org.jspecify.annotations.Nullable;

/** Reads the types of fields: numbered tables, as Schema.fbs of Arrow has them. */
final class ArrowTypes {
    static final int INT = 2;
    private static final int SECONDS = 0;
    private static final int MILLISECONDS = 1;
    private static final String[] UNITS = {"s", "ms", "us", "ns"};
    private static final String[] INTERVALS = {"YEAR_MONTH", "DAY_TIME", "MONTH_DAY_NANO"};

    private ArrowTypes() {}

    /** The form of elements in a file; the words are those of {@link ArrowField}. */
    record Shape(Kind kind, String type, int size) {}

    static Shape of(int kind, @Nullable FlatTable type) throws Malformed {
        if (type == null) {
            throw new Malformed("a field has no type");
        }
        return switch (kind) {
            case 1 -> new Shape(Kind.NULLS, "null", 0);
            case INT -> integer(type);
            case 3 -> real(type);
            case 4 -> new Shape(Kind.BYTES, "binary", Integer.BYTES);
            case 5 -> new Shape(Kind.TEXTS, "string", Integer.BYTES);
            case 6 -> new Shape(Kind.BITS, "|b1", 0);
            case 7 -> new Shape(Kind.OPAQUE, "decimal(" + type.intOf(0, 0) + ", " + type.intOf(1, 0) + ")", 0);
            case 8 -> date(type);
            case 9 -> time(type);
            case 10 -> new Shape(Kind.FIXED, "<M8[" + unit(type, SECONDS) + "]", Long.BYTES);
            case 11 -> new Shape(Kind.OPAQUE, "interval of " + INTERVALS[type.shortOf(0, 0)], 0);
            case 12 -> new Shape(Kind.LISTS, "list", Integer.BYTES);
            case 13 -> new Shape(Kind.STRUCTS, "struct", 0);
            case 14 -> new Shape(type.shortOf(0, 0) == 1 ? Kind.DENSE_UNIONS : Kind.SPARSE_UNIONS, "union", 0);
            case 15 -> new Shape(Kind.FIXED_BYTES, "|u1", size(type));
            case 16 -> new Shape(Kind.FIXED_LISTS, "fixed_size_list", size(type));
            case 17 -> new Shape(Kind.LISTS, "map", Integer.BYTES);
            case 18 -> new Shape(Kind.FIXED, "<m8[" + unit(type, MILLISECONDS) + "]", Long.BYTES);
            case 19 -> new Shape(Kind.BYTES, "large_binary", Long.BYTES);
            case 20 -> new Shape(Kind.TEXTS, "large_string", Long.BYTES);
            case 21 -> new Shape(Kind.LISTS, "large_list", Long.BYTES);
            case 22 -> new Shape(Kind.RUNS, "run_end_encoded", 0);
            case 23 -> new Shape(Kind.BYTES_VIEWS, "binary_view", 0);
            case 24 -> new Shape(Kind.TEXT_VIEWS, "string_view", 0);
            case 25 -> new Shape(Kind.LIST_VIEWS, "list_view", 0);
            case 26 -> new Shape(Kind.LIST_VIEWS, "large_list_view", 0);
            default -> throw new Malformed("a field has the unknown type " + kind);
        };
    }

    private static Shape integer(FlatTable type) throws Malformed {
        int bits = type.intOf(0, 0);
        if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
            throw new Malformed("a field has integers of " + bits + " bits");
        }
        return fixed(type.byteOf(1) != 0 ? 'i' : 'u', bits / Byte.SIZE);
    }

    private static Shape real(FlatTable type) throws Malformed {
        int precision = type.shortOf(0, 0);
        if (precision < 0 || precision > 2) {
            throw new Malformed("a field has floats of an unknown precision");
        }
        return fixed('f', Short.BYTES << precision);
    }

    private static Shape fixed(char letter, int bytes) {
        return new Shape(Kind.FIXED, (bytes == 1 ? "|" : "<") + letter + bytes, bytes);
    }

    private static Shape date(FlatTable type) {
        boolean isOfDays = type.shortOf(0, MILLISECONDS) == 0;
        return isOfDays
                ? new Shape(Kind.NARROW, "<M8[D]", Integer.BYTES)
                : new Shape(Kind.FIXED, "<M8[ms]", Long.BYTES);
    }

    /** Times of day are the time since midnight. */
    private static Shape time(FlatTable type) throws Malformed {
        String unit = unit(type, MILLISECONDS);
        boolean isNarrow = unit.equals("s") || unit.equals("ms");
        return new Shape(
                isNarrow ? Kind.NARROW : Kind.FIXED, "<m8[" + unit + "]", isNarrow ? Integer.BYTES : Long.BYTES);
    }

    private static String unit(FlatTable type, int orElse) throws Malformed {
        int unit = type.shortOf(0, orElse);
        if (unit < 0 || unit >= UNITS.length) {
            throw new Malformed("a field has times in an unknown unit");
        }
        return UNITS[unit];
    }

    private static int size(FlatTable type) throws Malformed {
        int size = type.intOf(0, 0);
        if (size < 0) {
            throw new Malformed("a field has elements of " + size + " parts");
        }
        return size;
    }
}
