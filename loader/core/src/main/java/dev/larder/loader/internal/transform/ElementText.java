package dev.larder.loader.internal.transform;

/**
 * The text of the function that changes one element: the operations of {@link Arithmetic}, in the same order, with the same rounding.
 *
 * <p>It takes the stored bits of the element and returns the bits to write. Integers are held in {@code int}, {@code uint},
 * {@code long} or {@code ulong}, halves as their bits.
 */
final class ElementText {
    /** The most values that a chain of comparisons selects from; more values use a table. */
    private static final int CHAIN = 4;

    private final Arithmetic arithmetic;
    private final StringBuilder tables = new StringBuilder();
    private final StringBuilder body = new StringBuilder();
    private int variables;

    private ElementText(Arithmetic arithmetic) {
        this.arithmetic = arithmetic;
    }

    /** Returns the functions that {@link #call} calls. */
    static String of(Arithmetic arithmetic) {
        return new ElementText(arithmetic).text();
    }

    /** Returns the text that changes an element. */
    static String call(String bits, String channel) {
        return "larder_element(" + bits + ", " + channel + ")";
    }

    private String text() {
        if (arithmetic.operations().isEmpty()) {
            return swapped();
        }
        body.append("  const ")
                .append(holder(arithmetic.stored().type()))
                .append(" v0 = ")
                .append(decoded(arithmetic.stored()));
        body.append(";\n");
        for (Arithmetic.Operation operation : arithmetic.operations()) {
            add(operation);
        }
        String result = KernelText.word(arithmetic.result().byteSize());
        return tables + result + " larder_element("
                + KernelText.word(arithmetic.stored().byteSize()) + " bits, uint channel) {\n" + body + "  return "
                + encoded(arithmetic.result()) + ";\n}\n";
    }

    /** Returns the text for elements that change at most their byte order, without decoding them. */
    private String swapped() {
        int byteSize = arithmetic.stored().byteSize();
        boolean swaps = arithmetic.stored().swapped() != arithmetic.result().swapped();
        String word = KernelText.word(byteSize);
        return word + " larder_element(" + word + " bits, uint channel) {\n  return "
                + (swaps ? "larder_swap" + byteSize + "(bits)" : "bits") + ";\n}\n";
    }

    /** Returns the text that reads a number from {@code bits}. */
    static String decoded(Encoding encoding) {
        String bits = encoding.swapped() ? "larder_swap" + encoding.byteSize() + "(bits)" : "bits";
        return switch (encoding.type()) {
            case BOOL -> bits + " != 0 ? 1 : 0";
            case INT8 -> "(int) (char) " + bits;
            case INT16 -> "(int) (short) " + bits;
            case INT32 -> "(int) " + bits;
            case INT64 -> "(long) " + bits;
            case FLOAT32 -> "as_float(" + bits + ")";
            case FLOAT64 -> "as_double(" + bits + ")";
            case UINT8, UINT16, UINT32, UINT64, FLOAT16 -> bits;
        };
    }

    private String encoded(Encoding encoding) {
        String bits = switch (encoding.type()) {
            case FLOAT32 -> "as_uint(" + value() + ")";
            case FLOAT64 -> "as_ulong(" + value() + ")";
            default -> "(" + KernelText.word(encoding.byteSize()) + ") " + value();
        };
        return encoding.swapped() ? "larder_swap" + encoding.byteSize() + "(" + bits + ")" : bits;
    }

    private void add(Arithmetic.Operation operation) {
        if (operation instanceof Arithmetic.Operation.Convert convert) {
            next(convert.to(), converted(convert.from(), convert.to()));
        } else if (operation instanceof Arithmetic.Operation.ToBfloat16) {
            next(NumberType.UINT16, "larder_to_bfloat16(" + value() + ")");
        } else if (operation instanceof Arithmetic.Operation.FromBfloat16) {
            next(NumberType.FLOAT32, "as_float(" + value() + " << 16)");
        } else if (operation instanceof Arithmetic.Operation.MultiplyAdd affine) {
            next(NumberType.FLOAT32, value() + " * " + number(affine.factor()));
            next(NumberType.FLOAT32, value() + " + " + number(affine.offset()));
        } else if (operation instanceof Arithmetic.Operation.Center center) {
            next(NumberType.FLOAT32, value() + " - " + ofChannel(center.means()));
            next(NumberType.FLOAT32, value() + " * " + ofChannel(center.inverses()));
        } else {
            next(NumberType.FLOAT32, "larder_divide_by_255((float) " + value() + ")");
        }
    }

    private String value() {
        return "v" + variables;
    }

    private void next(NumberType type, String text) {
        variables++;
        body.append("  const ").append(holder(type)).append(' ').append(value());
        body.append(" = ").append(text).append(";\n");
    }

    private static String holder(NumberType type) {
        return switch (type) {
            case INT8, INT16, INT32 -> "int";
            case INT64 -> "long";
            case UINT64 -> "ulong";
            case FLOAT32 -> "float";
            case FLOAT64 -> "double";
            case BOOL, UINT8, UINT16, UINT32, FLOAT16 -> "uint";
        };
    }

    private String converted(NumberType from, NumberType to) {
        String value = from == NumberType.FLOAT16 ? "larder_from_half(" + value() + ")" : value();
        return switch (to) {
            case FLOAT16 ->
                from == NumberType.FLOAT64
                        ? "larder_half_of_double(" + value + ")"
                        : "larder_to_half((float) " + value + ")";
            case FLOAT32 -> "(float) " + value;
            case FLOAT64 -> "(double) " + value;
            case BOOL -> value + " != 0 ? 1 : 0";
            default -> from.isFloat() ? saturated(value, to) : wrapped(value, to);
        };
    }

    private static String wrapped(String value, NumberType to) {
        return switch (to) {
            case INT8 -> "(int) (char) " + value;
            case INT16 -> "(int) (short) " + value;
            case UINT8 -> "(uint) (uchar) " + value;
            case UINT16 -> "(uint) (ushort) " + value;
            default -> "(" + holder(to) + ") " + value;
        };
    }

    /** Returns the expression that drops the fraction and clamps to the type, for floats of either width. */
    private static String saturated(String value, NumberType to) {
        int bits = 8 * to.byteSize();
        String beyond;
        String largest;
        String smallest;
        String lowest;
        if (to.isUnsigned()) {
            beyond = "0x1.0p" + bits + "f";
            largest = "0x" + "ff".repeat(to.byteSize()) + (bits == Long.SIZE ? "UL" : "U");
            smallest = "0";
            lowest = "0.0f";
        } else {
            beyond = "0x1.0p" + (bits - 1) + "f";
            largest = "0x7f" + "ff".repeat(to.byteSize() - 1) + (bits == Long.SIZE ? "L" : "");
            smallest = "(-" + largest + " - 1)";
            lowest = "-" + beyond;
        }
        String type = "(" + holder(to) + ") ";
        return value + " >= " + beyond + " ? " + type + largest + " : " + value + " > " + lowest + " ? " + type + value
                + " : " + value + " != " + value + " ? " + type + "0 : " + type + smallest;
    }

    /** Returns the expression that selects the number of the element's channel. */
    private String ofChannel(float[] values) {
        if (values.length > CHAIN) {
            String table = "larder_table" + tables.length();
            tables.append("__constant float ").append(table).append("[").append(values.length);
            tables.append("] = {");
            for (float value : values) {
                tables.append(number(value)).append(", ");
            }
            tables.setLength(tables.length() - 2);
            tables.append("};\n");
            return table + "[channel]";
        }
        return chain(values);
    }

    private static String chain(float[] values) {
        StringBuilder chain = new StringBuilder("(");
        for (int i = 0; i < values.length - 1; i++) {
            chain.append("channel == ").append(i).append(" ? ").append(number(values[i]));
            chain.append(" : ");
        }
        return chain.append(number(values[values.length - 1])).append(')').toString();
    }

    /** Returns the text of exactly this number. */
    static String number(float value) {
        if (Float.isNaN(value)) {
            return "NAN";
        }
        if (Float.isInfinite(value)) {
            return value > 0 ? "INFINITY" : "(-INFINITY)";
        }
        return "(" + Float.toHexString(value) + "f)";
    }
}
