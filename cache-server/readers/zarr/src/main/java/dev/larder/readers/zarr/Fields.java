package dev.larder.readers.zarr;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.larder.reader.BadSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A JSON object of the metadata. Fails with a refusal if a member is missing or has another type. */
record Fields(JsonObject json, Place place) {
    private static final long MOST_BYTES = 64L << 20;
    private static final int MOST_SHOWN_CHARS = 100;

    /** Reads the object of a file. */
    static Fields of(Path file, Place place) throws BadSource {
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw place.unfit("its metadata has more than " + MOST_BYTES + " bytes");
            }
            ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
            JsonElement json = JsonParser.parseString(
                    StandardCharsets.UTF_8.newDecoder().decode(bytes).toString());
            if (json.isJsonObject()) {
                return new Fields(json.getAsJsonObject(), place);
            }
        } catch (BadSource e) {
            throw e;
        } catch (CharacterCodingException | JsonParseException | StackOverflowError e) {
            throw place.damaged("its metadata is no JSON (" + shown(String.valueOf(e.getMessage())) + ")");
        } catch (IOException | OutOfMemoryError e) {
            throw place.unreadable(e);
        }
        throw place.damaged("its metadata is no JSON object");
    }

    static String shown(String text) {
        String line = text.lines().findFirst().orElse("");
        return line.length() > MOST_SHOWN_CHARS ? line.substring(0, MOST_SHOWN_CHARS) + "…" : line;
    }

    /** Returns a value as text for a refusal. */
    static String shown(@Nullable JsonElement value) {
        return shown(String.valueOf(value));
    }

    /** Returns a member; null if it is missing or null. */
    @Nullable
    JsonElement find(String name) {
        JsonElement value = json.get(name);
        return value == null || value.isJsonNull() ? null : value;
    }

    private BadSource bad(String name) {
        return place.damaged("its metadata has no valid " + name + ": found=" + shown(json.get(name)));
    }

    private JsonElement need(String name) throws BadSource {
        JsonElement value = find(name);
        if (value == null) {
            throw bad(name);
        }
        return value;
    }

    String text(String name) throws BadSource {
        JsonElement value = need(name);
        if (!value.isJsonPrimitive() || !value.getAsJsonPrimitive().isString()) {
            throw bad(name);
        }
        return value.getAsString();
    }

    String text(String name, String orElse) throws BadSource {
        return find(name) == null ? orElse : text(name);
    }

    JsonElement value(String name) throws BadSource {
        return need(name);
    }

    /** Returns an object; an empty one if it is missing. */
    Fields object(String name) throws BadSource {
        JsonElement value = find(name);
        if (value == null) {
            return new Fields(new JsonObject(), place);
        } else if (!value.isJsonObject()) {
            throw bad(name);
        }
        return new Fields(value.getAsJsonObject(), place);
    }

    /** Returns the elements of a list; none if it is missing. */
    List<JsonElement> list(String name) throws BadSource {
        JsonElement value = find(name);
        if (value == null) {
            return List.of();
        } else if (!value.isJsonArray()) {
            throw bad(name);
        }
        return value.getAsJsonArray().asList();
    }

    /** Returns a list of integers that are not negative. */
    long[] lengths(String name) throws BadSource {
        JsonElement value = need(name);
        if (!value.isJsonArray()) {
            throw bad(name);
        }
        JsonArray list = value.getAsJsonArray();
        long[] lengths = new long[list.size()];
        for (int i = 0; i < lengths.length; i++) {
            lengths[i] = length(list.get(i), name);
        }
        return lengths;
    }

    /** Returns an integer that is not negative. */
    long length(String name) throws BadSource {
        return length(need(name), name);
    }

    private long length(JsonElement value, String name) throws BadSource {
        try {
            long length = value.getAsBigDecimal().longValueExact();
            if (length >= 0) {
                return length;
            }
        } catch (ArithmeticException
                | IllegalStateException
                | UnsupportedOperationException
                | NumberFormatException e) {
            throw bad(name);
        }
        throw bad(name);
    }

    /** Returns an object with a {@code name} and a {@code configuration}, or a text that is the name. */
    Fields named(JsonElement value, String what) throws BadSource {
        if (value.isJsonObject()) {
            return new Fields(value.getAsJsonObject(), place);
        } else if (value.isJsonPrimitive() && value.getAsJsonPrimitive().isString()) {
            JsonObject named = new JsonObject();
            named.add("name", value);
            return new Fields(named, place);
        }
        throw place.damaged("its metadata has no valid " + what + ": found=" + shown(value));
    }

    /** Refuses members that may change the meaning of others. */
    void requireOnly(Set<String> known) throws BadSource {
        List<String> unknown = new ArrayList<>();
        for (String name : json.keySet()) {
            boolean isOptional = json.get(name).isJsonObject()
                    && json.getAsJsonObject(name).has("must_understand")
                    && json.getAsJsonObject(name)
                            .get("must_understand")
                            .toString()
                            .equals("false");
            if (!known.contains(name) && !isOptional && find(name) != null) {
                unknown.add(name);
            }
        }
        if (!unknown.isEmpty()) {
            throw place.unfit("its metadata has members that this reader does not know: " + shown(unknown.toString()));
        }
    }
}
