package dev.larder.readers.parquet;

import dev.larder.reader.BadSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Finds the units of durations. Parquet has no such type: writers store bare integers of 64 bits, and in the file's metadata the Arrow schema
 * of the table, a FlatBuffers message in Base64. A damaged one may contain itself, so fields and characters of names are counted.
 */
final class ArrowDurations {
    private static final String KEY = "ARROW:schema";
    private static final int MOST_FIELDS = 100_000;
    private static final int DEEPEST = 64;

    /** All names of columns together have so many times as many characters as the schema has bytes, at most. */
    private static final long MOST_TIMES = 16;

    private static final String[] UNITS = {"s", "ms", "us", "ns"};

    /** Stands before a message; the message's length follows. */
    private static final int CONTINUATION = -1;

    /** Numbers of fields in the tables of Arrow's Message.fbs and Schema.fbs, and of members in their unions. */
    private static final int MESSAGE_HEADER = 2;

    private static final int SCHEMA_FIELDS = 1;
    private static final int FIELD_NAME = 0;
    private static final int FIELD_TYPE_KIND = 2;
    private static final int FIELD_TYPE = 3;
    private static final int FIELD_CHILDREN = 5;
    private static final int DURATION_UNIT = 0;
    private static final int STRUCT = 13;
    private static final int DURATION = 18;
    private static final int DEFAULT_UNIT = 1;
    private static final int ABSENT = -1;

    private final ByteBuffer in;
    private final Map<String, String> units = new HashMap<>();
    private int fields;
    private long budget;

    private ArrowDurations(ByteBuffer in) {
        this.in = in;
        this.budget = MOST_TIMES * in.limit();
    }

    /** Returns the units of all durations, such as {@code us}, by the names that {@link ColumnNames} gives their columns. */
    static Map<String, String> of(int file, Map<String, String> metadata) throws BadSource {
        String schema = metadata.get(KEY);
        if (schema == null) {
            return Map.of();
        }
        try {
            ByteBuffer message =
                    ByteBuffer.wrap(Base64.getDecoder().decode(schema)).order(ByteOrder.LITTLE_ENDIAN);
            int prefix = message.getInt(0) == CONTINUATION ? 2 * Integer.BYTES : Integer.BYTES;
            return new ArrowDurations(
                            message.slice(prefix, message.limit() - prefix).order(ByteOrder.LITTLE_ENDIAN))
                    .ofMessage();
        } catch (IOException | IndexOutOfBoundsException | IllegalArgumentException e) {
            throw BadSource.damaged(
                    file,
                    BadSource.NOWHERE,
                    "",
                    "the Arrow schema in its metadata is malformed (" + BadSource.words(e) + ")");
        }
    }

    private Map<String, String> ofMessage() throws IOException {
        int message = follow(0);
        int schema = follow(place(message, MESSAGE_HEADER));
        fields(place(schema, SCHEMA_FIELDS), "", true, 0);
        return units;
    }

    /** Goes through the fields of a schema, or the children of a field; those of a list have no level of names. */
    private void fields(int place, String above, boolean areNamed, int depth) throws IOException {
        if (place == ABSENT) {
            return;
        }
        int vector = follow(place);
        int count = in.getInt(vector);
        if (count < 0 || count > MOST_FIELDS - fields || depth > DEEPEST) {
            throw new IOException("it has more than " + MOST_FIELDS + " fields, or " + DEEPEST + " levels");
        }
        fields += count;
        for (int i = 1; i <= count; i++) {
            int field = follow(vector + i * Integer.BYTES);
            field(field, areNamed ? above + name(field) : above, depth);
        }
    }

    private void field(int field, String path, int depth) throws IOException {
        budget -= path.length();
        if (budget < 0) {
            throw new IOException("its fields contain each other");
        }
        int kind = in.get(place(field, FIELD_TYPE_KIND));
        if (kind == DURATION) {
            int unit = place(follow(place(field, FIELD_TYPE)), DURATION_UNIT);
            units.put(path, UNITS[unit == ABSENT ? DEFAULT_UNIT : in.getShort(unit)]);
        }
        boolean isStruct = kind == STRUCT;
        fields(place(field, FIELD_CHILDREN), isStruct ? path + "/" : path, isStruct, depth + 1);
    }

    private String name(int field) {
        int place = place(field, FIELD_NAME);
        if (place == ABSENT) {
            return "";
        }
        int text = follow(place);
        byte[] utf8 = new byte[Objects.checkIndex(in.getInt(text), in.limit())];
        in.get(text + Integer.BYTES, utf8);
        return new String(utf8, StandardCharsets.UTF_8);
    }

    /** Returns the position of a table's field, {@link #ABSENT} if the table leaves it out. */
    private int place(int table, int id) {
        int offsets = table - in.getInt(table);
        int entry = 2 * Short.BYTES + id * Short.BYTES;
        int offset = entry < in.getShort(offsets) ? in.getShort(offsets + entry) & 0xffff : 0;
        return offset == 0 ? ABSENT : table + offset;
    }

    private int follow(int place) {
        return place + in.getInt(place);
    }
}
