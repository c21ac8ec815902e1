package dev.larder.npy;

import dev.larder.internal.text.PythonText;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes a structured type as numpy's {@code descr} list: as a Python literal or as JSON. */
final class DescrText {
    private static final DescrText PYTHON = new DescrText(PythonText::quoted, "(", ")");
    private static final DescrText JSON = new DescrText(DescrText::jsonString, "[", "]");

    private final UnaryOperator<String> string;
    private final String open;
    private final String close;

    private DescrText(UnaryOperator<String> string, String open, String close) {
        this.string = string;
        this.open = open;
        this.close = close;
    }

    static String python(List<StructField> fields, int itemSize) {
        return PYTHON.structure(fields, itemSize);
    }

    static String json(List<StructField> fields, int itemSize) {
        return JSON.structure(fields, itemSize);
    }

    private String structure(List<StructField> fields, int itemSize) {
        List<String> parts = new ArrayList<>();
        int end = 0;
        for (StructField field : fields) {
            addPadding(parts, field.offset() - end);
            parts.add(field(field));
            end = field.offset() + field.byteSize();
        }
        addPadding(parts, itemSize - end);
        return "[" + String.join(", ", parts) + "]";
    }

    private void addPadding(List<String> parts, int bytes) {
        if (bytes > 0) {
            parts.add(group(string.apply(""), string.apply("|V" + bytes), null));
        }
    }

    private String field(StructField field) {
        String name = string.apply(field.name());
        String title = field.title();
        Dtype dtype = field.dtype();
        String type =
                dtype.kind() == Kind.STRUCT ? structure(dtype.fields(), dtype.itemSize()) : string.apply(dtype.descr());
        return group(title == null ? name : group(string.apply(title), name, null), type, shape(field.subShape()));
    }

    private @Nullable String shape(List<Integer> shape) {
        if (shape.isEmpty()) {
            return null;
        }
        String dimensions = shape.stream().map(String::valueOf).collect(Collectors.joining(", "));
        boolean loneInTuple = shape.size() == 1 && this == PYTHON;
        return open + dimensions + (loneInTuple ? "," : "") + close;
    }

    private String group(String first, String second, @Nullable String third) {
        return open + first + ", " + second + (third == null ? "" : ", " + third) + close;
    }

    /** Escapes only the characters that JSON or UTF-8 cannot contain, because texts of the control plane have a limit. */
    private static String jsonString(String text) {
        StringBuilder out = new StringBuilder(text.length() + 2).append('"');
        text.codePoints().forEach(c -> {
            if (c == '"' || c == '\\') {
                out.append('\\').append((char) c);
            } else if (Character.isISOControl(c) || (Character.isBmpCodePoint(c) && Character.isSurrogate((char) c))) {
                out.append(String.format("\\u%04x", c));
            } else {
                out.appendCodePoint(c);
            }
        });
        return out.append('"').toString();
    }
}
