package dev.larder.cluster;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a node and the leader tell each other: a kind, and texts by name. Who does not know a name ignores it.
 *
 * <pre>
 *  length | kind | count | length | name | length | text | …      lengths and counts of 4 bytes, texts in UTF-8
 * </pre>
 */
record Message(Kind kind, Map<String, String> fields) {
    /** What is said. */
    enum Kind {
        /** Nothing, but that the sender lives. */
        PING,
        /** A node says who it is and what it would run. */
        HELLO,
        /** The leader takes a node in. */
        SEATED,
        /** The leader does not want a node. */
        REFUSED,
        /** The leader asks its own node for a list of the sources. */
        LIST,
        /** A node has listed the sources, or failed to. */
        LISTED,
        /** The leader asks a node to bring the data. */
        LOAD,
        /** A node has the data, or failed to bring it. */
        LOADED,
        /** The leader tells a node what its shards are a part of, as all nodes have proved. */
        KEEP,
        /** A node has taken note of that, or failed to. */
        KEPT,
        /** The leader starts a round: all nodes start their ranks. */
        START,
        /** A node has a rank that failed, and ends its others. */
        FAILING,
        /** The leader ends a round: all nodes end their ranks. */
        HALT,
        /** A node's ranks have all ended. */
        OVER,
        /** A line of a rank. */
        LINE,
        /** Somebody asks the run to stop. */
        STOP,
        /** The leader ends the run. */
        FINAL;

        /** Tells whether it answers what the leader asked of the data. */
        boolean isOfData() {
            return this == LISTED || this == LOADED || this == KEPT;
        }

        private static Kind of(String name) throws IOException {
            for (Kind kind : values()) {
                if (kind.name().equals(name)) {
                    return kind;
                }
            }
            throw new IOException("not a message: kind=" + name);
        }
    }

    private static final int MOST_FIELDS = 64;

    static Message of(Kind kind) {
        return new Message(kind, new LinkedHashMap<>());
    }

    /** Adds a text. */
    Message with(String name, Object value) {
        fields.put(name, String.valueOf(value));
        return this;
    }

    /** Returns a text; empty where the sender knows none. */
    String text(String name) {
        return fields.getOrDefault(name, "");
    }

    /** Returns a number; −1 where the sender knows none. */
    long number(String name) {
        @Nullable String text = fields.get(name);
        try {
            return text == null ? -1 : Long.parseLong(text);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    int integer(String name) {
        return (int) number(name);
    }

    byte[] encode() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            write(out, kind.name());
            out.writeInt(fields.size());
            for (Map.Entry<String, String> field : fields.entrySet()) {
                write(out, field.getKey());
                write(out, field.getValue());
            }
        } catch (IOException e) {
            throw new IllegalStateException("an array takes all", e);
        }
        return bytes.toByteArray();
    }

    static Message decode(byte[] body) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(body));
        Kind kind = Kind.of(read(in));
        int count = in.readInt();
        if (count < 0 || count > MOST_FIELDS) {
            throw new IOException("not a message: fields=" + count);
        }
        Map<String, String> fields = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            String name = read(in);
            fields.put(name, read(in));
        }
        return new Message(kind, fields);
    }

    private static void write(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static String read(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > in.available()) {
            throw new IOException("not a message: length=" + length);
        }
        return new String(in.readNBytes(length), StandardCharsets.UTF_8);
    }
}
