package dev.larder.command.show;

import dev.larder.internal.text.PythonText;
import dev.larder.npy.Dtype;
import dev.larder.npy.StructField;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Formats a group of elements as numpy does. */
final class CellTexts {
    private static final HexFormat ESCAPES = HexFormat.of().withUpperCase().withPrefix("\\x");

    private CellTexts() {}

    /** Returns the text of each element of a type. */
    static List<String> of(Dtype dtype, List<CellValue> cells) {
        return switch (dtype.kind()) {
            case BOOL -> each(cells, cell -> cell.integer() == 0 ? "False" : " True");
            case INT, UINT -> aligned(each(cells, CellValue::digits));
            case FLOAT -> floats(cells, dtype.itemSize(), false);
            case COMPLEX -> complex(cells, dtype.itemSize() / 2);
            case DATETIME -> aligned(each(cells, cell -> "'" + cell.date() + "'"));
            case TIMEDELTA -> aligned(each(cells, CellTexts::span));
            case BYTES -> each(cells, cell -> bytesLiteral(cell.text()));
            case UNICODE -> each(cells, cell -> literal(cell.text()));
            case VOID -> each(cells, cell -> "b'" + ESCAPES.formatHex(cell.raw()) + "'");
            case STRUCT -> structs(dtype, cells);
        };
    }

    private static List<String> each(List<CellValue> cells, Function<CellValue, String> text) {
        return cells.stream().map(text).toList();
    }

    private static List<String> aligned(List<String> texts) {
        int width = texts.stream().mapToInt(String::length).max().orElse(0);
        return texts.stream()
                .map(text -> " ".repeat(width - text.length()) + text)
                .toList();
    }

    private static List<String> floats(List<CellValue> cells, int itemSize, boolean showsPlus) {
        return FloatTexts.of(cells.stream().mapToDouble(CellValue::number).toArray(), itemSize, showsPlus);
    }

    private static List<String> complex(List<CellValue> cells, int itemSize) {
        List<String> real = floats(cells.stream().map(CellValue::real).toList(), itemSize, false);
        List<String> imaginary = floats(cells.stream().map(CellValue::imaginary).toList(), itemSize, true);
        return IntStream.range(0, cells.size())
                .mapToObj(i -> real.get(i) + withUnit(imaginary.get(i)))
                .toList();
    }

    private static String withUnit(String imaginary) {
        String digits = imaginary.stripTrailing();
        return digits + "j" + imaginary.substring(digits.length());
    }

    private static String span(CellValue cell) {
        return cell.integer() == TimeText.NOT_A_TIME ? "'NaT'" : cell.digits();
    }

    /** Returns a text as a Python literal. */
    static String literal(String text) {
        return PythonText.quoted(text, point -> PythonText.isPrintable(point) && Character.isDefined(point));
    }

    /** Returns bytes, given as one character each, as a Python literal. */
    static String bytesLiteral(String bytes) {
        return "b" + PythonText.quoted(bytes, point -> point >= ' ' && point < 0x7f);
    }

    private static List<String> structs(Dtype dtype, List<CellValue> cells) {
        List<List<String>> columns =
                dtype.fields().stream().map(field -> field(field, cells)).toList();
        String end = columns.size() == 1 ? ",)" : ")";
        return IntStream.range(0, cells.size())
                .mapToObj(
                        i -> columns.stream().map(column -> column.get(i)).collect(Collectors.joining(", ", "(", end)))
                .toList();
    }

    private static List<String> field(StructField field, List<CellValue> cells) {
        List<CellValue> parts =
                cells.stream().flatMap(cell -> cell.elements(field).stream()).toList();
        List<String> texts = of(field.dtype(), parts);
        int count = cells.isEmpty() ? 0 : parts.size() / cells.size();
        return IntStream.range(0, cells.size())
                .mapToObj(i -> nested(texts.subList(i * count, (i + 1) * count), field.subShape()))
                .toList();
    }

    private static String nested(List<String> texts, List<Integer> shape) {
        if (shape.isEmpty()) {
            return texts.get(0);
        }
        int rows = shape.get(0);
        int length = rows == 0 ? 0 : texts.size() / rows;
        return IntStream.range(0, rows)
                .mapToObj(row -> texts.subList(row * length, (row + 1) * length))
                .map(row -> nested(row, shape.subList(1, shape.size())))
                .collect(Collectors.joining(", ", "[", "]"));
    }
}
