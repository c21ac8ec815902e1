package dev.larder.server.source.text;

import com.google.gson.JsonParseException;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.MalformedJsonException;
import dev.larder.reader.WantedColumns;
import java.io.EOFException;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Reads lines that are JSON objects. Numbers are kept as they are written; null is the same as nothing. */
final class JsonLines {
    private static final int MOST_NAMES = 10_000;

    private final Path file;

    /** What columns are called, by their keys: to make a name costs more than to look it up. */
    private final Map<String, String> names = new HashMap<>();

    private long blankLine;

    JsonLines(Path file) {
        this.file = file;
    }

    void read(Reader reader, CellSink sink) throws IOException {
        LineReader lines = new LineReader(file, reader);
        for (String line = lines.next(); line != null; line = lines.next()) {
            if (line.isBlank()) {
                blankLine = blankLine == 0 ? lines.number() : blankLine;
                continue;
            } else if (blankLine > 0) {
                throw LineReader.refusal(file, blankLine, "it is empty");
            }
            try {
                readObject(line, sink);
            } catch (BadCell e) {
                throw LineReader.refusal(file, lines.number(), e.reason());
            } catch (MalformedJsonException | EOFException | JsonParseException | IllegalStateException e) {
                throw LineReader.refusal(file, lines.number(), "it is not a JSON object");
            }
        }
    }

    private String nameOf(String key) {
        String known = names.get(key);
        if (known != null) {
            return known;
        }
        String name = WantedColumns.storedName(key);
        if (names.size() < MOST_NAMES) {
            names.put(key, name);
        }
        return name;
    }

    private void readObject(String line, CellSink sink) throws IOException {
        JsonReader json = new JsonReader(new StringReader(line));
        json.setStrictness(Strictness.STRICT);
        json.beginObject();
        while (json.hasNext()) {
            String column = nameOf(json.nextName());
            JsonToken token = json.peek();
            switch (token) {
                case STRING -> sink.cell(column, json.nextString(), false);
                case NUMBER -> {
                    String number = json.nextString();
                    sink.cell(column, number, IntegerText.isCanonical(number));
                }
                case BOOLEAN -> sink.cell(column, Boolean.toString(json.nextBoolean()), false);
                case NULL -> json.nextNull();
                default -> nested(json, column, sink);
            }
        }
        json.endObject();
        if (json.peek() != JsonToken.END_DOCUMENT) {
            throw new BadCell("more follows the object");
        }
        sink.endRow();
    }

    private static void nested(JsonReader json, String column, CellSink sink) throws IOException {
        if (sink.isWanted(column)) {
            throw new BadCell("the value of " + column
                    + " is a list or an object; name the keys of plain values with --columns, or flatten it");
        }
        json.skipValue();
    }
}
