package dev.larder.readers.zarr;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.larder.reader.BadSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * The type of the elements of an array.
 *
 * @param dtype as numpy describes it
 * @param unitBytes how many bytes turn together if their order is the other one: 1 if they have no order, 0 if the parts have several lengths
 */
record Element(String dtype, int byteSize, int unitBytes) {
    /** Texts and bytes of any length, which are columns and no arrays. */
    static final Element TEXTS = new Element("texts", 0, 1);

    static final Element BYTES_OF_ANY_LENGTH = new Element("bytes", 0, 1);
    private static final Pattern SIMPLE = Pattern.compile("([<>|])([biufcMmSUV])([0-9]{1,9})(\\[[0-9a-zA-Z]{1,15}])?");
    private static final Pattern RAW_BITS = Pattern.compile("r([0-9]{1,9})");
    private static final int MOST_BYTES = 16 << 20;
    private static final int MOST_NESTED = 16;

    private static final Map<Character, Set<Integer>> BYTES = Map.of(
            'b', Set.of(1),
            'i', Set.of(1, 2, 4, 8),
            'u', Set.of(1, 2, 4, 8),
            'f', Set.of(2, 4, 8),
            'c', Set.of(8, 16),
            'M', Set.of(8),
            'm', Set.of(8));

    /** numpy's types by their names, which version 3 has. */
    static final Map<String, String> NAMED = Map.ofEntries(
            Map.entry("bool", "|b1"),
            Map.entry("int8", "|i1"),
            Map.entry("int16", "<i2"),
            Map.entry("int32", "<i4"),
            Map.entry("int64", "<i8"),
            Map.entry("uint8", "|u1"),
            Map.entry("uint16", "<u2"),
            Map.entry("uint32", "<u4"),
            Map.entry("uint64", "<u8"),
            Map.entry("float16", "<f2"),
            Map.entry("float32", "<f4"),
            Map.entry("float64", "<f8"),
            Map.entry("complex64", "<c8"),
            Map.entry("complex128", "<c16"));

    /** Returns the letter of numpy's kind; {@code [} for a structured type. */
    char kind() {
        return dtype.charAt(0) == '[' ? '[' : dtype.charAt(1);
    }

    boolean hasAnyLength() {
        return byteSize == 0;
    }

    /** Returns the type of elements of any length that a codec packs; null if it packs no such elements. */
    static @Nullable Element ofCodec(String codec) {
        return switch (codec) {
            case "vlen-utf8" -> TEXTS;
            case "vlen-bytes" -> BYTES_OF_ANY_LENGTH;
            default -> null;
        };
    }

    boolean isBigEndian() {
        return dtype.charAt(0) == '>';
    }

    /** Returns a type of version 2: numpy's description, with lists in place of tuples. */
    static Element described(JsonElement dtype, Place place) throws BadSource {
        return described(dtype, place, 0);
    }

    private static Element described(JsonElement dtype, Place place, int depth) throws BadSource {
        if (dtype.isJsonArray() && depth < MOST_NESTED) {
            List<Field> fields = new ArrayList<>();
            for (JsonElement each : dtype.getAsJsonArray()) {
                JsonArray field = each.isJsonArray() ? each.getAsJsonArray() : new JsonArray();
                if (field.size() < 2 || field.size() > 3 || !isText(field.get(0))) {
                    throw unfit(dtype, place);
                }
                Element element = described(field.get(1), place, depth + 1);
                fields.add(new Field(field.get(0).getAsString(), element, field.size() == 3 ? field.get(2) : null));
            }
            return structured(fields, dtype, place);
        }
        return isText(dtype) ? simple(dtype.getAsString(), dtype, place) : refuse(dtype, place);
    }

    private static boolean isText(JsonElement value) {
        return value.isJsonPrimitive() && value.getAsJsonPrimitive().isString();
    }

    private static Element refuse(JsonElement type, Place place) throws BadSource {
        throw unfit(type, place);
    }

    private static BadSource unfit(JsonElement type, Place place) {
        return place.unfit("its type is not one that is read: " + Fields.shown(type));
    }

    private static Element simple(String text, JsonElement type, Place place) throws BadSource {
        Matcher matcher = SIMPLE.matcher(text);
        if (!matcher.matches()) {
            throw unfit(type, place);
        }
        char kind = matcher.group(2).charAt(0);
        long number = Long.parseLong(matcher.group(3));
        long bytes = kind == 'U' ? number * Integer.BYTES : number;
        boolean isTime = kind == 'M' || kind == 'm';
        Set<Integer> known = BYTES.get(kind);
        if (bytes == 0
                || bytes > MOST_BYTES
                || (known != null && !known.contains((int) bytes))
                || isTime != (matcher.group(4) != null)) {
            throw unfit(type, place);
        }
        int unit = unitBytes(kind, (int) bytes);
        boolean isOrdered = unit > 1;
        if (isOrdered && text.charAt(0) == '|') {
            throw unfit(type, place);
        }
        return new Element(isOrdered ? text : "|" + text.substring(1), (int) bytes, unit);
    }

    private static int unitBytes(char kind, int bytes) {
        return switch (kind) {
            case 'c' -> bytes / 2;
            case 'U' -> Integer.BYTES;
            case 'S', 'V', 'b' -> 1;
            default -> bytes;
        };
    }

    /** A field of a structured type; {@code shape} is null for a single element. */
    private record Field(
            String name, Element element, @Nullable JsonElement shape) {}

    private static Element structured(List<Field> fields, JsonElement type, Place place) throws BadSource {
        List<String> words = new ArrayList<>();
        long bytes = 0;
        boolean isOrdered = false;
        for (Field field : fields) {
            List<Long> shape = shape(field.shape, type, place);
            boolean isPlain = field.name.chars().allMatch(c -> c >= ' ' && c != '\'' && c != '\\');
            if (field.name.isEmpty() || !isPlain) {
                throw unfit(type, place);
            }
            String dtype = field.element.dtype;
            String dimensions = shape.stream().map(String::valueOf).collect(Collectors.joining(", "));
            words.add("('" + field.name + "', " + (dtype.startsWith("[") ? dtype : "'" + dtype + "'")
                    + (shape.isEmpty() ? "" : ", (" + dimensions + (shape.size() == 1 ? ",)" : ")")) + ")");
            long count = shape.stream().reduce(1L, (a, b) -> Math.min(MOST_BYTES + 1L, a * b));
            bytes += Math.min(MOST_BYTES + 1L, field.element.byteSize * count);
            isOrdered |= field.element.unitBytes != 1;
            if (bytes > MOST_BYTES) {
                throw unfit(type, place);
            }
        }
        if (bytes == 0) {
            throw unfit(type, place);
        }
        return new Element("[" + String.join(", ", words) + "]", (int) bytes, isOrdered ? 0 : 1);
    }

    private static List<Long> shape(@Nullable JsonElement shape, JsonElement type, Place place) throws BadSource {
        if (shape == null) {
            return List.of();
        }
        try {
            List<Long> lengths = shape.isJsonArray()
                    ? StreamSupport.stream(shape.getAsJsonArray().spliterator(), false)
                            .map(length -> (long) length.getAsBigDecimal().intValueExact())
                            .toList()
                    : List.of((long) shape.getAsBigDecimal().intValueExact());
            if (lengths.stream().allMatch(length -> length > 0)) {
                return lengths;
            }
        } catch (ArithmeticException
                | IllegalStateException
                | UnsupportedOperationException
                | NumberFormatException e) {
            throw unfit(type, place);
        }
        throw unfit(type, place);
    }

    /** Returns a type of version 3: a name, or an object with a name and a configuration. */
    static Element named(JsonElement type, Place place) throws BadSource {
        return named(type, place, 0);
    }

    private static Element named(JsonElement type, Place place, int depth) throws BadSource {
        Fields fields = new Fields(new JsonObject(), place).named(type, "data_type");
        String name = fields.text("name");
        Fields configuration = fields.object("configuration");
        Matcher bits = RAW_BITS.matcher(name);
        String plain = NAMED.get(name);
        if (plain != null) {
            return simple(plain, type, place);
        } else if (bits.matches() && Integer.parseInt(bits.group(1)) % Byte.SIZE == 0) {
            return simple("|V" + Integer.parseInt(bits.group(1)) / Byte.SIZE, type, place);
        }
        return switch (name) {
            case "string" -> TEXTS;
            case "bytes", "variable_length_bytes" -> BYTES_OF_ANY_LENGTH;
            case "fixed_length_utf32" ->
                simple("<U" + configuration.length("length_bytes") / Integer.BYTES, type, place);
            case "null_terminated_bytes" -> simple("|S" + configuration.length("length_bytes"), type, place);
            case "raw_bytes" -> simple("|V" + configuration.length("length_bytes"), type, place);
            case "numpy.datetime64" -> simple("<M8" + unit(configuration), type, place);
            case "numpy.timedelta64" -> simple("<m8" + unit(configuration), type, place);
            case "struct", "structured" -> structured(configuration, type, place, depth);
            default -> throw unfit(type, place);
        };
    }

    private static String unit(Fields configuration) throws BadSource {
        long scale = configuration.find("scale_factor") == null ? 1 : configuration.length("scale_factor");
        return "[" + (scale == 1 ? "" : scale) + configuration.text("unit") + "]";
    }

    /** Fields are pairs of a name and a type, or objects with both. */
    private static Element structured(Fields configuration, JsonElement type, Place place, int depth) throws BadSource {
        List<Field> fields = new ArrayList<>();
        for (JsonElement each : configuration.list("fields")) {
            boolean isPair = each.isJsonArray() && each.getAsJsonArray().size() == 2;
            if (depth == MOST_NESTED || !(isPair || each.isJsonObject())) {
                throw unfit(type, place);
            }
            Fields field = isPair ? pair(each.getAsJsonArray(), place) : new Fields(each.getAsJsonObject(), place);
            Element element = named(field.value("data_type"), place, depth + 1);
            if (element.hasAnyLength()) {
                throw unfit(type, place);
            }
            fields.add(new Field(field.text("name"), element, null));
        }
        return structured(fields, type, place);
    }

    private static Fields pair(JsonArray pair, Place place) {
        JsonObject field = new JsonObject();
        field.add("name", pair.get(0));
        field.add("data_type", pair.get(1));
        return new Fields(field, place);
    }
}
