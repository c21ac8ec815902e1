package dev.larder.npy;

import dev.larder.internal.text.PythonText;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Converts the {@code descr} literal of one header to a type, and limits the number of its fields. */
final class DtypeParser {
    static final int MAX_FIELDS = 10_000;
    static final int MAX_SUB_DIMENSIONS = 32;

    private static final Pattern SIMPLE = Pattern.compile("([<>|])([biufcSUVMm])([0-9]{0,10})(\\[[^\\[\\]]{1,16}])?");
    private static final Pattern OBJECT = Pattern.compile("[<>|=]?(O[0-9]*|object)");
    private static final Pattern UNIT = Pattern.compile("\\[([0-9]{0,10})(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as|generic)]");
    private static final String OBJECT_REMEDY = "convert it before saving: text with a.astype('U') (or a text"
            + " file, loaded with --as strings), numbers with a.astype('f4') or another fixed type, rows of different lengths as"
            + " one file each (loaded with --as ragged)";

    private int fieldCount;

    Dtype parse(Literal descr) throws LiteralFault {
        if (descr instanceof Literal.Text text) {
            return simple(text);
        } else if (descr instanceof Literal.Sequence list) {
            return structure(list);
        }
        throw new LiteralFault(descr.at(), "descr is " + descr.word() + ", not a string or a list of fields");
    }

    private static Dtype simple(Literal.Text text) throws LiteralFault {
        String descr = text.value();
        if (OBJECT.matcher(descr).matches()) {
            throw new LiteralFault(
                    text.at(),
                    "it holds Python objects (dtype object), which the file stores as a pickle: code, not data",
                    OBJECT_REMEDY);
        }
        Matcher matcher = SIMPLE.matcher(descr);
        if (!matcher.matches()) {
            throw unknown(text);
        }
        Kind kind = kind(matcher.group(2).charAt(0));
        int itemSize = itemSize(text, kind, matcher.group(3));
        String unit = unit(text, kind, matcher.group(4));
        char order = order(text, kind, itemSize, matcher.group(1).charAt(0));
        int number = kind == Kind.UNICODE ? itemSize / Integer.BYTES : itemSize;
        return Dtype.simple(kind, itemSize, order != '>', "" + order + kind.letter() + number + unit);
    }

    private static Kind kind(char letter) {
        for (Kind kind : Kind.values()) {
            if (kind.letter() == letter) {
                return kind;
            }
        }
        throw new IllegalArgumentException("letter=" + letter);
    }

    private static int itemSize(Literal.Text text, Kind kind, String digits) throws LiteralFault {
        if (digits.isEmpty() || (digits.charAt(0) == '0' && digits.length() > 1)) {
            throw unknown(text);
        }
        long number = Long.parseLong(digits);
        long bytes = kind == Kind.UNICODE ? number * Integer.BYTES : number;
        if (bytes > Integer.MAX_VALUE) {
            throw new LiteralFault(text.at(), "an element of it would be larger than 2 GiB");
        }
        boolean known = switch (kind) {
            case BOOL -> bytes == 1;
            case INT, UINT -> bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
            case FLOAT -> bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
            case COMPLEX -> bytes == 8 || bytes == 16 || bytes == 32;
            case DATETIME, TIMEDELTA -> bytes == 8;
            case BYTES, UNICODE, VOID, STRUCT -> true;
        };
        if (!known) {
            throw unknown(text);
        }
        return (int) bytes;
    }

    private static String unit(Literal.Text text, Kind kind, @Nullable String unit) throws LiteralFault {
        if (unit == null) {
            return "";
        }
        Matcher matcher = UNIT.matcher(unit);
        if ((kind != Kind.DATETIME && kind != Kind.TIMEDELTA) || !matcher.matches()) {
            throw unknown(text);
        }
        String digits = matcher.group(1);
        long multiple = digits.isEmpty() ? 1 : Long.parseLong(digits);
        if (multiple > Integer.MAX_VALUE) {
            throw unknown(text);
        }
        boolean generic = matcher.group(2).equals("generic");
        if (generic && !digits.isEmpty()) {
            throw unknown(text);
        }
        return generic ? "" : "[" + (multiple == 1 ? "" : multiple) + matcher.group(2) + "]";
    }

    private static char order(Literal.Text text, Kind kind, int itemSize, char order) throws LiteralFault {
        if (!kind.isOrdered(itemSize)) {
            return '|';
        }
        if (order == '|') {
            throw new LiteralFault(
                    text.at(), "dtype " + PythonText.shown(text.value()) + " has no byte order (< or >)");
        }
        return order;
    }

    private static LiteralFault unknown(Literal.Text text) {
        return new LiteralFault(text.at(), "dtype " + PythonText.shown(text.value()) + " is not one that numpy writes");
    }

    private Dtype structure(Literal.Sequence list) throws LiteralFault {
        List<StructField> fields = new ArrayList<>();
        Set<String> names = new HashSet<>();
        int end = 0;
        for (Literal item : list.items()) {
            if (++fieldCount > MAX_FIELDS) {
                throw new LiteralFault(item.at(), "there are more than " + MAX_FIELDS + " fields");
            }
            StructField field = field(item, end);
            if (!isPadding(field)) {
                claim(names, field.name(), item);
                if (field.title() != null) {
                    claim(names, field.title(), item);
                }
                fields.add(field);
            }
            end = sum(item, end, field);
        }
        return Dtype.structured(fields, end);
    }

    private static int sum(Literal item, int end, StructField field) throws LiteralFault {
        try {
            return Math.addExact(end, field.byteSize());
        } catch (ArithmeticException e) {
            throw new LiteralFault(item.at(), "an element of it would be larger than 2 GiB");
        }
    }

    private static void claim(Set<String> names, String name, Literal item) throws LiteralFault {
        if (!names.add(name)) {
            throw new LiteralFault(item.at(), "field name " + PythonText.shown(name) + " occurs twice");
        }
    }

    /** Returns whether numpy treats a field as padding: raw bytes, or a small array of any type, without a name. */
    private static boolean isPadding(StructField field) {
        return field.name().isEmpty()
                && field.title() == null
                && (field.dtype().kind() == Kind.VOID || !field.subShape().isEmpty());
    }

    private StructField field(Literal item, int offset) throws LiteralFault {
        if (!(item instanceof Literal.Tuple tuple)
                || tuple.items().size() < 2
                || tuple.items().size() > 3) {
            throw new LiteralFault(item.at(), "a field is not a tuple of name, type and perhaps shape");
        }
        List<Integer> shape = new ArrayList<>();
        if (tuple.items().size() == 3) {
            addShape(shape, tuple.items().get(2));
        }
        Literal type = tuple.items().get(1);
        while (type instanceof Literal.Tuple pair && pair.items().size() == 2) {
            addShape(shape, pair.items().get(1));
            type = pair.items().get(0);
        }
        Literal name = tuple.items().get(0);
        String title = null;
        if (name instanceof Literal.Tuple pair && pair.items().size() == 2) {
            title = text(pair.items().get(0));
            name = pair.items().get(1);
        }
        return new StructField(text(name), title, parse(type), shape, offset);
    }

    private static String text(Literal literal) throws LiteralFault {
        if (literal instanceof Literal.Text text) {
            return text.value();
        }
        throw new LiteralFault(literal.at(), "a field name is " + literal.word() + ", not a string");
    }

    private static void addShape(List<Integer> shape, Literal literal) throws LiteralFault {
        if (!(literal instanceof Literal.Tuple tuple)) {
            throw new LiteralFault(literal.at(), "the shape of a field is " + literal.word() + ", not a tuple");
        }
        for (Literal item : tuple.items()) {
            if (!(item instanceof Literal.Whole whole) || whole.value() < 0 || whole.value() > Integer.MAX_VALUE) {
                throw new LiteralFault(item.at(), "a dimension of a field is not a number from 0 to 2^31-1");
            }
            shape.add((int) whole.value());
        }
        if (shape.size() > MAX_SUB_DIMENSIONS) {
            throw new LiteralFault(literal.at(), "a field has more than " + MAX_SUB_DIMENSIONS + " dimensions");
        }
    }
}
