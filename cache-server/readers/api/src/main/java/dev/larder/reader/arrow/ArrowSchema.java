package dev.larder.reader.arrow;

import dev.larder.reader.arrow.ArrowField.Encoding;
import dev.larder.reader.arrow.ArrowField.Extension;
import dev.larder.reader.arrow.ArrowField.Form;
import dev.larder.reader.arrow.ArrowField.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a file, and Hugging Face's description of them.
 *
 * @param huggingFace JSON; empty if there is none
 * @param isBigEndian whether the numbers of the file are; those of the schema are little-endian in any case
 */
public record ArrowSchema(List<ArrowField> fields, String huggingFace, boolean isBigEndian) {
    /** Stands before a message; the message's length follows. */
    private static final int CONTINUATION = -1;

    /** Numbers of the fields of tables, as Message.fbs, File.fbs and Schema.fbs of Arrow have them. */
    private static final int MESSAGE_HEADER = 2;

    private static final int FOOTER_SCHEMA = 1;
    private static final int SCHEMA_ENDIANNESS = 0;
    private static final int SCHEMA_FIELDS = 1;
    private static final int SCHEMA_METADATA = 2;

    /** Keeps its own copy. */
    public ArrowSchema {
        fields = List.copyOf(fields);
    }

    /** Reports a schema that makes no sense. */
    public static final class Malformed extends IOException {
        private static final long serialVersionUID = 1;

        Malformed(String reason) {
            super(reason);
        }
    }

    /**
     * Reads the schema that a message has, which remains in the buffer and is all of it. Throws {@link IndexOutOfBoundsException},
     * {@link IllegalArgumentException} or {@link ArithmeticException} if a place in it is outside of it.
     */
    public static ArrowSchema ofMessage(ByteBuffer message) throws Malformed {
        return of(FlatTable.root(message).table(MESSAGE_HEADER), message.remaining());
    }

    /** Reads the schema of a message behind the message's length, as {@link #ofMessage} does. */
    public static ArrowSchema ofPrefixedMessage(ByteBuffer bytes) throws Malformed {
        ByteBuffer in = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        int prefix = in.getInt(0) == CONTINUATION ? 2 * Integer.BYTES : Integer.BYTES;
        return ofMessage(in.slice(prefix, in.limit() - prefix));
    }

    /** Reads the schema of a footer of a file, as {@link #ofMessage} does. */
    public static ArrowSchema ofFooter(ByteBuffer footer) throws Malformed {
        return of(FlatTable.root(footer).table(FOOTER_SCHEMA), footer.remaining());
    }

    private static ArrowSchema of(@Nullable FlatTable schema, int bytes) throws Malformed {
        if (schema == null) {
            throw new Malformed("a message is empty");
        }
        Parser parser = new Parser(bytes);
        List<ArrowField> fields = parser.fields(schema, SCHEMA_FIELDS, 0);
        return new ArrowSchema(
                fields,
                parser.metadata(schema, SCHEMA_METADATA, "huggingface"),
                schema.shortOf(SCHEMA_ENDIANNESS, 0) != 0);
    }

    /** Reads one schema. Parts of hostile ones may contain themselves, or each other again and again: so it counts the bytes that it reads. */
    private static final class Parser {
        private static final int MOST_FIELDS = 100_000;
        private static final int DEEPEST = 64;
        private static final int LONGEST_NAME = 1024;
        private static final int NAME = 0;
        private static final int TYPE_KIND = 2;
        private static final int TYPE = 3;
        private static final int DICTIONARY = 4;
        private static final int CHILDREN = 5;
        private static final int METADATA = 6;

        private int fields;
        private long budget;

        Parser(int metadataBytes) {
            this.budget = 4L * metadataBytes;
        }

        private void spend(long bytes) throws Malformed {
            budget -= bytes;
            if (budget < 0) {
                throw new Malformed("parts of its schema contain each other");
            }
        }

        List<ArrowField> fields(FlatTable above, int list, int depth) throws Malformed {
            int count = above.count(list);
            if (count < 0 || count > MOST_FIELDS - fields || depth > DEEPEST) {
                throw new Malformed("its schema has more than " + MOST_FIELDS + " fields, or is nested deeper than "
                        + DEEPEST + " levels");
            }
            List<ArrowField> found = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                fields++;
                spend(Integer.BYTES);
                found.add(field(above.item(list, i), depth));
            }
            return found;
        }

        private ArrowField field(FlatTable field, int depth) throws Malformed {
            Extension extension = extension(field);
            List<ArrowField> children = fields(field, CHILDREN, depth + 1);
            Form form = ArrowTypes.of(field.byteOf(TYPE_KIND), field.table(TYPE));
            int expected = switch (form.kind()) {
                case LISTS, LIST_VIEWS, FIXED_LISTS -> 1;
                case RUNS -> 2;
                case STRUCTS, SPARSE_UNIONS, DENSE_UNIONS -> children.size();
                default -> 0;
            };
            if (children.size() != expected) {
                throw new Malformed("a field of type " + form.type() + " has " + children.size() + " children");
            }
            String name = text(field, NAME, LONGEST_NAME);
            return new ArrowField(name, form, children, encoding(field), extension);
        }

        private static @Nullable Encoding encoding(FlatTable field) throws Malformed {
            FlatTable found = field.table(DICTIONARY);
            if (found == null) {
                return null;
            }
            FlatTable codes = found.table(1);
            Form form = codes == null
                    ? new Form(Kind.FIXED, "<i4", Integer.BYTES)
                    : ArrowTypes.of(ArrowTypes.INT, codes);
            return new Encoding(found.longOf(0), form.type(), form.size());
        }

        private Extension extension(FlatTable field) throws Malformed {
            String name = metadata(field, METADATA, "ARROW:extension:name");
            return name.isEmpty()
                    ? Extension.NONE
                    : new Extension(name, metadata(field, METADATA, "ARROW:extension:metadata"));
        }

        /** Returns the value of a key; empty if it is not there. */
        String metadata(FlatTable of, int list, String key) throws Malformed {
            int count = of.count(list);
            for (int i = 0; i < count; i++) {
                spend(Integer.BYTES);
                FlatTable entry = of.item(list, i);
                if (entry.textBytes(0) == key.length() && entry.text(0).equals(key)) {
                    return text(entry, 1, Integer.MAX_VALUE);
                }
            }
            return "";
        }

        private String text(FlatTable table, int field, int longest) throws Malformed {
            int bytes = table.textBytes(field);
            if (bytes > longest) {
                throw new Malformed("a field's name is longer than " + longest + " bytes");
            }
            spend(Objects.checkIndex(bytes, Integer.MAX_VALUE));
            return table.text(field);
        }
    }
}
