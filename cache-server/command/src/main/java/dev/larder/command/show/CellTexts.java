package dev.larder.command.show;

import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import dev.larder.npy.StructField;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Formats a group of elements as numpy does. */
final class CellTexts {
    private static final int CODE_POINT_BYTES = 4;

    private CellTexts() {}

    /** Returns the text of each element from its bytes. */
    static List<String> of(Dtype dtype, List<byte[]> cells) {
        return switch (dtype.kind()) {
            case BOOL ->
                cells.stream().map(cell -> cell[0] == 0 ? "False" : " True").toList();
            case INT, UINT ->
                aligned(cells.stream().map(cell -> integer(dtype, cell)).toList());
            case FLOAT -> floats(dtype, cells);
            case COMPLEX -> complex(dtype, cells);
            case DATETIME ->
                aligned(cells.stream().map(cell -> date(dtype, cell)).toList());
            case TIMEDELTA ->
                aligned(cells.stream().map(cell -> span(dtype, cell)).toList());
            case BYTES -> cells.stream().map(CellTexts::bytes).toList();
            case UNICODE -> cells.stream().map(cell -> unicode(dtype, cell)).toList();
            case VOID -> cells.stream().map(CellTexts::raw).toList();
            case STRUCT -> structs(dtype, cells);
        };
    }

    private static List<String> aligned(List<String> texts) {
        int width = texts.stream().mapToInt(String::length).max().orElse(0);
        return texts.stream()
                .map(text -> " ".repeat(width - text.length()) + text)
                .toList();
    }

    static String integer(Dtype dtype, byte[] cell) {
        long value = Numbers.integerAt(dtype, ByteBuffer.wrap(cell), 0);
        return dtype.kind() == Kind.UINT ? Long.toUnsignedString(value) : Long.toString(value);
    }

    private static List<String> floats(Dtype dtype, List<byte[]> cells) {
        double[] values = parts(dtype, cells, 0, dtype.itemSize());
        FloatTexts texts = new FloatTexts(values, dtype.itemSize(), false);
        return Arrays.stream(values).mapToObj(texts::text).toList();
    }

    /** Reads the floats at an offset of each element. */
    static double[] parts(Dtype dtype, List<byte[]> cells, int offset, int byteSize) {
        return cells.stream()
                .mapToDouble(
                        cell -> Numbers.floatAt(byteSize, ByteBuffer.wrap(cell).order(dtype.byteOrder()), offset))
                .toArray();
    }

    private static List<String> complex(Dtype dtype, List<byte[]> cells) {
        int half = dtype.itemSize() / 2;
        double[] real = parts(dtype, cells, 0, half);
        double[] imaginary = parts(dtype, cells, half, half);
        FloatTexts left = new FloatTexts(real, half, false);
        FloatTexts right = new FloatTexts(imaginary, half, true);
        return IntStream.range(0, real.length)
                .mapToObj(i -> left.text(real[i]) + withUnit(right.text(imaginary[i])))
                .toList();
    }

    private static String withUnit(String imaginary) {
        String digits = imaginary.stripTrailing();
        return digits + "j" + imaginary.substring(digits.length());
    }

    private static String date(Dtype dtype, byte[] cell) {
        return "'" + TimeText.of(dtype, Numbers.integerAt(dtype, ByteBuffer.wrap(cell), 0)) + "'";
    }

    private static String span(Dtype dtype, byte[] cell) {
        long value = Numbers.integerAt(dtype, ByteBuffer.wrap(cell), 0);
        return value == TimeText.NOT_A_TIME ? "'NaT'" : Long.toString(value);
    }

    private static String bytes(byte[] cell) {
        int length = cell.length;
        while (length > 0 && cell[length - 1] == 0) {
            length--;
        }
        return "b" + quoted(new String(cell, 0, length, StandardCharsets.ISO_8859_1), 0x7f);
    }

    /** Returns a text as a Python literal. */
    static String literal(String text) {
        return quoted(text, Character.MAX_CODE_POINT);
    }

    /** Returns bytes as a Python literal, with all zeros. */
    static String literal(byte[] bytes) {
        return "b" + quoted(new String(bytes, StandardCharsets.ISO_8859_1), 0x7f);
    }

    private static String unicode(Dtype dtype, byte[] cell) {
        return literal(text(dtype, cell));
    }

    /** Returns the text of an element of UTF-32, without the zeros at its end. */
    static String text(Dtype dtype, byte[] cell) {
        ByteBuffer points = ByteBuffer.wrap(cell).order(dtype.byteOrder());
        StringBuilder text = new StringBuilder();
        int zeros = 0;
        for (int at = 0; at < cell.length; at += CODE_POINT_BYTES) {
            int point = points.getInt(at);
            if (point == 0) {
                zeros++;
                continue;
            }
            text.append("\0".repeat(zeros)).appendCodePoint(Character.isValidCodePoint(point) ? point : 0xfffd);
            zeros = 0;
        }
        return text.toString();
    }

    /** Returns a Python literal; code points from {@code firstEscaped} on are escaped. */
    private static String quoted(String text, int firstEscaped) {
        char quote = text.contains("'") && !text.contains("\"") ? '"' : '\'';
        StringBuilder literal = new StringBuilder().append(quote);
        text.codePoints().forEach(point -> {
            if (point == '\\' || point == quote) {
                literal.append('\\').appendCodePoint(point);
            } else if (point == '\n' || point == '\r' || point == '\t') {
                literal.append(point == '\n' ? "\\n" : point == '\r' ? "\\r" : "\\t");
            } else if (point < ' ' || point == 0x7f || point >= firstEscaped || !isPrintable(point)) {
                literal.append(escape(point));
            } else {
                literal.appendCodePoint(point);
            }
        });
        return literal.append(quote).toString();
    }

    private static boolean isPrintable(int point) {
        return switch (Character.getType(point)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            case Character.SPACE_SEPARATOR -> point == ' ';
            default -> true;
        };
    }

    private static String escape(int point) {
        return point < 0x100
                ? String.format("\\x%02x", point)
                : String.format(point < 0x1_0000 ? "\\u%04x" : "\\U%08x", point);
    }

    private static String raw(byte[] cell) {
        StringBuilder text = new StringBuilder("b'");
        for (byte b : cell) {
            text.append(String.format("\\x%02X", b & 0xff));
        }
        return text.append("'").toString();
    }

    private static List<String> structs(Dtype dtype, List<byte[]> cells) {
        List<List<String>> columns = new ArrayList<>();
        for (StructField field : dtype.fields()) {
            columns.add(field(field, cells));
        }
        String end = columns.size() == 1 ? ",)" : ")";
        return IntStream.range(0, cells.size())
                .mapToObj(i -> "("
                        + String.join(
                                ", ",
                                columns.stream().map(column -> column.get(i)).toList())
                        + end)
                .toList();
    }

    private static List<String> field(StructField field, List<byte[]> cells) {
        int itemSize = field.dtype().itemSize();
        int count = itemSize == 0 ? 0 : field.byteSize() / itemSize;
        List<byte[]> parts = new ArrayList<>();
        for (byte[] cell : cells) {
            for (int i = 0; i < count; i++) {
                int from = field.offset() + i * itemSize;
                parts.add(Arrays.copyOfRange(cell, from, from + itemSize));
            }
        }
        List<String> texts = of(field.dtype(), parts);
        if (field.subShape().isEmpty() && count == 1) {
            return texts;
        }
        return IntStream.range(0, cells.size())
                .mapToObj(i -> nested(texts.subList(i * count, (i + 1) * count), field.subShape()))
                .toList();
    }

    private static String nested(List<String> texts, List<Integer> shape) {
        if (shape.isEmpty()) {
            return String.join(", ", texts);
        }
        int rows = shape.get(0);
        int length = rows == 0 ? 0 : texts.size() / rows;
        List<String> parts = IntStream.range(0, rows)
                .mapToObj(
                        row -> nested(texts.subList(row * length, (row + 1) * length), shape.subList(1, shape.size())))
                .toList();
        return "[" + String.join(", ", parts) + "]";
    }
}
