package dev.larder.server.source.text;

import com.google.gson.JsonParseException;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.MalformedJsonException;
import dev.larder.reader.Selection;
import dev.larder.server.source.Refusal;
import java.io.EOFException;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Reads lines that are JSON objects. Numbers are kept as they are written; null is the same as nothing. */
final class JsonLines {
    /** The remedy for text that is no JSON object, such as a list over many lines. */
    static final String ONE_A_LINE = "write one JSON object a line";

    private static final int MOST_NAMES = 10_000;

    private final Path file;
    private final CellReader lines;
    private final CellSink sink;
    private final Cell cell;

    /** The stored names of keys: to make one costs more than to look it up. */
    private final Map<String, String> names = new HashMap<>();

    JsonLines(Path file, CellReader lines, CellSink sink) {
        this.file = file;
        this.lines = lines;
        this.sink = sink;
        this.cell = lines.cell();
    }

    void read() throws IOException {
        long blankLine = 0;
        for (long number = 1; lines.next(); number++) {
            String line = cell.toString();
            if (line.isBlank()) {
                blankLine = blankLine == 0 ? number : blankLine;
                continue;
            } else if (blankLine > 0) {
                throw Refusal.atLine(file, blankLine, "it is empty", "repair the line");
            }
            try {
                readObject(line);
            } catch (MalformedJsonException | EOFException | JsonParseException | IllegalStateException e) {
                throw cell.refusal("it is not a JSON object", ONE_A_LINE);
            }
        }
    }

    private String nameOf(String key) {
        String known = names.get(key);
        if (known != null) {
            return known;
        }
        String name = Selection.storedName(key);
        if (names.size() < MOST_NAMES) {
            names.put(key, name);
        }
        return name;
    }

    private void readObject(String line) throws IOException {
        JsonReader json = new JsonReader(new StringReader(line));
        json.setStrictness(Strictness.STRICT);
        json.beginObject();
        while (json.hasNext()) {
            String name = nameOf(json.nextName());
            JsonToken token = json.peek();
            int column = token == JsonToken.NULL ? -1 : sink.column(name, cell);
            if (column < 0) {
                json.skipValue();
            } else if (token == JsonToken.BEGIN_ARRAY || token == JsonToken.BEGIN_OBJECT) {
                throw cell.refusal("the value of " + name
                        + " is a list or an object; name the keys of plain values with --columns, or flatten it");
            } else {
                String value = token == JsonToken.BOOLEAN ? Boolean.toString(json.nextBoolean()) : json.nextString();
                byte[] utf8 = value.getBytes(StandardCharsets.UTF_8); // in strict mode no surrogate is alone
                cell.set(utf8, 0, utf8.length, token != JsonToken.NUMBER);
                sink.add(column, cell);
            }
        }
        json.endObject();
        if (json.peek() != JsonToken.END_DOCUMENT) {
            throw cell.refusal("more follows the object");
        }
        sink.endRow(cell);
    }
}
