package dev.larder.reader.arrow;

import dev.larder.reader.arrow.ArrowField.Form;
import dev.larder.reader.arrow.ArrowField.Kind;
import dev.larder.reader.arrow.ArrowSchema.Malformed;
import org.jspecify.annotations.Nullable;

/** Reads the types of fields: numbered tables, as Schema.fbs of Arrow has them. */
final class ArrowTypes {
    static final int INT = 2;
    private static final int DECIMAL_BITS = 128;
    private static final int SECONDS = 0;
    private static final int MILLISECONDS = 1;
    private static final String[] UNITS = {"s", "ms", "us", "ns"};
    private static final String[] INTERVALS = {"YEAR_MONTH", "DAY_TIME", "MONTH_DAY_NANO"};

    private ArrowTypes() {}

    static Form of(int kind, @Nullable FlatTable type) throws Malformed {
        if (type == null) {
            throw new Malformed("a field has no type");
        }
        return switch (kind) {
            case 1 -> new Form(Kind.NULLS, "null", 0);
            case INT -> integer(type);
            case 3 -> real(type);
            case 4 -> new Form(Kind.BYTES, "binary", Integer.BYTES);
            case 5 -> new Form(Kind.TEXTS, "string", Integer.BYTES);
            case 6 -> new Form(Kind.BITS, "|b1", 0);
            case 7 -> decimal(type);
            case 8 -> date(type);
            case 9 -> time(type);
            case 10 -> new Form(Kind.FIXED, "<M8[" + unit(type, SECONDS) + "]", Long.BYTES);
            case 11 -> new Form(Kind.OPAQUE, "interval of " + INTERVALS[type.shortOf(0, 0)], 0);
            case 12 -> new Form(Kind.LISTS, "list", Integer.BYTES);
            case 13 -> new Form(Kind.STRUCTS, "struct", 0);
            case 14 -> new Form(type.shortOf(0, 0) == 1 ? Kind.DENSE_UNIONS : Kind.SPARSE_UNIONS, "union", 0);
            case 15 -> new Form(Kind.FIXED_BYTES, "|u1", size(type));
            case 16 -> new Form(Kind.FIXED_LISTS, "fixed_size_list", size(type));
            case 17 -> new Form(Kind.LISTS, "map", Integer.BYTES);
            case 18 -> new Form(Kind.FIXED, "<m8[" + unit(type, MILLISECONDS) + "]", Long.BYTES);
            case 19 -> new Form(Kind.BYTES, "large_binary", Long.BYTES);
            case 20 -> new Form(Kind.TEXTS, "large_string", Long.BYTES);
            case 21 -> new Form(Kind.LISTS, "large_list", Long.BYTES);
            case 22 -> new Form(Kind.RUNS, "run_end_encoded", 0);
            case 23 -> new Form(Kind.BYTES_VIEWS, "binary_view", 0);
            case 24 -> new Form(Kind.TEXT_VIEWS, "string_view", 0);
            case 25 -> new Form(Kind.LIST_VIEWS, "list_view", 0);
            case 26 -> new Form(Kind.LIST_VIEWS, "large_list_view", 0);
            default -> throw new Malformed("a field has the unknown type " + kind);
        };
    }

    private static Form integer(FlatTable type) throws Malformed {
        int bits = type.intOf(0, 0);
        if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
            throw new Malformed("a field has integers of " + bits + " bits");
        }
        return fixed(type.byteOf(1) != 0 ? 'i' : 'u', bits / Byte.SIZE);
    }

    private static Form real(FlatTable type) throws Malformed {
        int precision = type.shortOf(0, 0);
        if (precision < 0 || precision > 2) {
            throw new Malformed("a field has floats of an unknown precision");
        }
        return fixed('f', Short.BYTES << precision);
    }

    /** Decimals are integers without the point. */
    private static Form decimal(FlatTable type) throws Malformed {
        int bits = type.intOf(2, DECIMAL_BITS);
        if (bits != 32 && bits != 64 && bits != 128 && bits != 256) {
            throw new Malformed("a field has decimals of " + bits + " bits");
        }
        return new Form(Kind.DECIMALS, "<i8", bits / Byte.SIZE, type.intOf(1, 0));
    }

    private static Form fixed(char letter, int bytes) {
        return new Form(Kind.FIXED, (bytes == 1 ? "|" : "<") + letter + bytes, bytes);
    }

    private static Form date(FlatTable type) {
        boolean isOfDays = type.shortOf(0, MILLISECONDS) == 0;
        return isOfDays
                ? new Form(Kind.NARROW, "<M8[D]", Integer.BYTES)
                : new Form(Kind.FIXED, "<M8[ms]", Long.BYTES);
    }

    /** Times of day are the time since midnight. */
    private static Form time(FlatTable type) throws Malformed {
        String unit = unit(type, MILLISECONDS);
        boolean isNarrow = unit.equals("s") || unit.equals("ms");
        return new Form(
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
