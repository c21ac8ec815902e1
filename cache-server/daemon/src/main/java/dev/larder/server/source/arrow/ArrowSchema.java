package dev.larder.server.source.arrow;

import com.google.flatbuffers.Table;
import dev.larder.server.source.arrow.ArrowField.Encoding;
import dev.larder.server.source.arrow.ArrowField.Extension;
import dev.larder.server.source.arrow.ArrowField.Kind;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.apache.arrow.flatbuf.Date;
import org.apache.arrow.flatbuf.DateUnit;
import org.apache.arrow.flatbuf.Decimal;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.Duration;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FixedSizeBinary;
import org.apache.arrow.flatbuf.FixedSizeList;
import org.apache.arrow.flatbuf.FloatingPoint;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.Interval;
import org.apache.arrow.flatbuf.IntervalUnit;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Precision;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Time;
import org.apache.arrow.flatbuf.TimeUnit;
import org.apache.arrow.flatbuf.Timestamp;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.flatbuf.Union;
import org.apache.arrow.flatbuf.UnionMode;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a file, and what Hugging Face says of them.
 *
 * @param huggingFace JSON; empty where there is none
 */
record ArrowSchema(List<ArrowField> fields, String huggingFace) {
    private static final int MOST_FIELDS = 100_000;
    private static final int DEEPEST = 64;
    private static final int LONGEST_NAME = 1024;
    private static final String[] UNITS = {"s", "ms", "us", "ns"};

    ArrowSchema {
        fields = List.copyOf(fields);
    }

    /** Reads a schema that lies in so many bytes. */
    static ArrowSchema of(Schema schema, int metadataBytes, ArrowFile file) {
        if (schema.endianness() != Endianness.Little) {
            throw file.unread("its numbers are big-endian", "write it again with pyarrow, which swaps their bytes");
        }
        Parser parser = new Parser(file, metadataBytes);
        List<ArrowField> fields = parser.fields(schema.fieldsLength(), schema::fields, 0);
        return new ArrowSchema(
                fields, parser.value(schema.customMetadataLength(), schema::customMetadata, "huggingface"));
    }

    /** Reads one schema. Parts of hostile ones may contain themselves, or each other again and again: so it counts what it reads. */
    private static final class Parser {
        private final ArrowFile file;
        private final KeyValue entry = new KeyValue();
        private int fields;
        private long budget;

        Parser(ArrowFile file, int metadataBytes) {
            this.file = file;
            this.budget = 4L * metadataBytes;
        }

        private void spend(long bytes) {
            budget -= bytes;
            if (budget < 0) {
                throw file.refusal("parts of its schema contain each other");
            }
        }

        List<ArrowField> fields(int count, IntFunction<Field> field, int depth) {
            if (count > MOST_FIELDS - fields || depth > DEEPEST) {
                throw file.refusal("its schema has more than " + MOST_FIELDS + " fields, or is nested deeper than "
                        + DEEPEST + " levels");
            }
            List<ArrowField> found = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                fields++;
                spend(Integer.BYTES);
                found.add(field(field.apply(i), depth));
            }
            return found;
        }

        private ArrowField field(Field field, int depth) {
            Extension extension = extension(field);
            List<ArrowField> children = fields(field.childrenLength(), field::children, depth + 1);
            ArrowField plain = type(field, text(field.nameAsByteBuffer(), LONGEST_NAME), children, extension);
            int expected = switch (plain.kind()) {
                case LISTS, LIST_VIEWS, FIXED_LISTS -> 1;
                case RUNS -> 2;
                case STRUCTS, SPARSE_UNIONS, DENSE_UNIONS -> children.size();
                default -> 0;
            };
            if (children.size() != expected) {
                throw file.refusal("a field of type " + plain.type() + " has " + children.size() + " children");
            }
            return plain;
        }

        private Extension extension(Field field) {
            int count = field.customMetadataLength();
            if (count == 0) {
                return Extension.NONE;
            }
            String name = value(count, field::customMetadata, "ARROW:extension:name");
            return name.isEmpty()
                    ? Extension.NONE
                    : new Extension(name, value(count, field::customMetadata, "ARROW:extension:metadata"));
        }

        /** Returns what a key stands for; empty where it is not there. */
        String value(int count, MetadataEntry entries, String key) {
            for (int i = 0; i < count; i++) {
                spend(Integer.BYTES);
                KeyValue found = entries.at(entry, i);
                ByteBuffer its = found.keyAsByteBuffer();
                if (its != null
                        && its.remaining() == key.length()
                        && StandardCharsets.UTF_8.decode(its).toString().equals(key)) {
                    return text(found.valueAsByteBuffer(), Integer.MAX_VALUE);
                }
            }
            return "";
        }

        private String text(@Nullable ByteBuffer utf8, int longest) {
            if (utf8 == null) {
                return "";
            } else if (utf8.remaining() > longest) {
                throw file.refusal("a field's name is longer than " + longest + " bytes");
            }
            spend(utf8.remaining());
            return StandardCharsets.UTF_8.decode(utf8).toString();
        }

        private <T extends Table> T type(Field field, T type) {
            Table found = field.type(type);
            if (found == null) {
                throw file.refusal("a field has no type");
            }
            return type;
        }

        private ArrowField type(Field field, String name, List<ArrowField> children, Extension extension) {
            Shape shape = switch (field.typeType()) {
                case Type.Null -> new Shape(Kind.NULLS, "null", 0);
                case Type.Int -> integer(type(field, new Int()));
                case Type.FloatingPoint -> real(type(field, new FloatingPoint()));
                case Type.Bool -> new Shape(Kind.BITS, "|b1", 0);
                case Type.Decimal ->
                    new Shape(
                            Kind.OPAQUE, "decimal" + type(field, new Decimal()).bitWidth(), 0);
                case Type.Date -> date(type(field, new Date()));
                case Type.Time -> time(type(field, new Time()));
                case Type.Timestamp ->
                    new Shape(
                            Kind.FIXED,
                            "<M8[" + unit(type(field, new Timestamp()).unit()) + "]",
                            Long.BYTES);
                case Type.Duration ->
                    new Shape(
                            Kind.FIXED,
                            "<m8[" + unit(type(field, new Duration()).unit()) + "]",
                            Long.BYTES);
                case Type.Interval ->
                    new Shape(
                            Kind.OPAQUE,
                            "interval of "
                                    + IntervalUnit.name(
                                            type(field, new Interval()).unit()),
                            0);
                case Type.FixedSizeBinary ->
                    new Shape(
                            Kind.FIXED_BYTES,
                            "|u1",
                            size(type(field, new FixedSizeBinary()).byteWidth()));
                case Type.Utf8 -> new Shape(Kind.TEXTS, "string", Integer.BYTES);
                case Type.LargeUtf8 -> new Shape(Kind.TEXTS, "large_string", Long.BYTES);
                case Type.Binary -> new Shape(Kind.BYTES, "binary", Integer.BYTES);
                case Type.LargeBinary -> new Shape(Kind.BYTES, "large_binary", Long.BYTES);
                case Type.Utf8View -> new Shape(Kind.TEXT_VIEWS, "string_view", 0);
                case Type.BinaryView -> new Shape(Kind.BYTES_VIEWS, "binary_view", 0);
                case Type.List -> new Shape(Kind.LISTS, "list", Integer.BYTES);
                case Type.LargeList -> new Shape(Kind.LISTS, "large_list", Long.BYTES);
                case Type.Map -> new Shape(Kind.LISTS, "map", Integer.BYTES);
                case Type.ListView -> new Shape(Kind.LIST_VIEWS, "list_view", 0);
                case Type.LargeListView -> new Shape(Kind.LIST_VIEWS, "large_list_view", 0);
                case Type.FixedSizeList ->
                    new Shape(
                            Kind.FIXED_LISTS,
                            "fixed_size_list",
                            size(type(field, new FixedSizeList()).listSize()));
                case Type.Struct_ -> new Shape(Kind.STRUCTS, "struct", 0);
                case Type.Union ->
                    new Shape(
                            type(field, new Union()).mode() == UnionMode.Dense ? Kind.DENSE_UNIONS : Kind.SPARSE_UNIONS,
                            "union",
                            0);
                case Type.RunEndEncoded -> new Shape(Kind.RUNS, "run_end_encoded", 0);
                default -> throw file.refusal("a field has the unknown type " + field.typeType());
            };
            return new ArrowField(name, shape.kind, shape.type, shape.size, children, encoding(field), extension);
        }

        private record Shape(Kind kind, String type, int size) {}

        private @Nullable Encoding encoding(Field field) {
            DictionaryEncoding found = field.dictionary();
            if (found == null) {
                return null;
            }
            Int codes = found.indexType();
            Shape shape = codes == null ? new Shape(Kind.FIXED, "<i4", Integer.BYTES) : integer(codes);
            return new Encoding(found.id(), shape.type, shape.size);
        }

        private Shape integer(Int type) {
            int bits = type.bitWidth();
            if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
                throw file.refusal("a field has integers of " + bits + " bits");
            }
            return fixed(type.isSigned() ? 'i' : 'u', bits / 8);
        }

        private Shape real(FloatingPoint type) {
            return switch (type.precision()) {
                case Precision.HALF -> fixed('f', Short.BYTES);
                case Precision.SINGLE -> fixed('f', Float.BYTES);
                case Precision.DOUBLE -> fixed('f', Double.BYTES);
                default -> throw file.refusal("a field has floats of an unknown precision");
            };
        }

        private static Shape fixed(char letter, int bytes) {
            return new Shape(Kind.FIXED, (bytes == 1 ? "|" : "<") + letter + bytes, bytes);
        }

        private static Shape date(Date type) {
            return type.unit() == DateUnit.DAY
                    ? new Shape(Kind.NARROW, "<M8[D]", Integer.BYTES)
                    : new Shape(Kind.FIXED, "<M8[ms]", Long.BYTES);
        }

        /** Times of day are the time since midnight. */
        private Shape time(Time type) {
            boolean isNarrow = type.unit() == TimeUnit.SECOND || type.unit() == TimeUnit.MILLISECOND;
            return new Shape(
                    isNarrow ? Kind.NARROW : Kind.FIXED,
                    "<m8[" + unit(type.unit()) + "]",
                    isNarrow ? Integer.BYTES : Long.BYTES);
        }

        private String unit(short unit) {
            if (unit < 0 || unit >= UNITS.length) {
                throw file.refusal("a field has times in an unknown unit");
            }
            return UNITS[unit];
        }

        private int size(int size) {
            if (size < 0) {
                throw file.refusal("a field has elements of " + size + " parts");
            }
            return size;
        }
    }

    /** How schemas and fields give an entry of their metadata. */
    private interface MetadataEntry {
        KeyValue at(KeyValue entry, int index);
    }
}
