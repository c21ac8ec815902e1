package dev.larder.command.grid;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Reads the result of a job from its result file, or from its last line if there is no file. */
public final class JobResult {
    private static final int MOST_BYTES = 64 << 10;
    private static final Pattern TERMINAL_CODES = Pattern.compile("\u001b\\[[0-9;?]*[ -/]*[@-~]|\\p{Cntrl}");

    private JobResult() {}

    /** Returns an object, a text, or null without a result. A result beyond 64 KiB is cut, and is a text. */
    public static JsonElement read(Path file, String lastLine) {
        String text = text(file).strip();
        return parse(text.isEmpty() ? lastLine : text);
    }

    /** Parses an object, or returns the text. */
    static JsonElement parse(String text) {
        String plain = plain(text);
        if (plain.startsWith("{")) {
            try {
                JsonElement parsed = JsonParser.parseString(plain);
                if (parsed instanceof JsonObject object) {
                    return object;
                }
            } catch (JsonParseException | IllegalStateException e) {
                return new JsonPrimitive(plain);
            }
        }
        return plain.isEmpty() ? JsonNull.INSTANCE : new JsonPrimitive(plain);
    }

    /** Removes terminal codes and control characters from a line. */
    public static String plain(String line) {
        return TERMINAL_CODES
                .matcher(line.replace('\n', ' ').replace('\t', ' '))
                .replaceAll("")
                .strip();
    }

    private static String text(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(MOST_BYTES), StandardCharsets.UTF_8);
        } catch (IOException absent) {
            return "";
        }
    }
}
