package dev.larder.server.source.arrow;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What Hugging Face says of columns beside their types.
 *
 * @param json the description of one column, or of the columns by name; null where there is none
 */
public record Features(@Nullable JsonElement json) {
    /** Says nothing. */
    public static final Features NONE = new Features(null);

    private static final String TYPE = "_type";
    private static final String ELEMENTS = "feature";

    /** Reads what stands in the metadata of a schema; says nothing where that is no JSON of its kind. */
    static Features ofMetadata(String text) {
        if (text.isEmpty()) {
            return NONE;
        }
        try {
            return new Features(member(member(JsonParser.parseString(text), "info"), "features"));
        } catch (JsonParseException | IllegalStateException e) {
            return NONE;
        }
    }

    /** Returns a member of an object; null where it is no object, or has none. */
    static @Nullable JsonElement member(@Nullable JsonElement of, String name) {
        return of instanceof JsonObject object ? object.get(name) : null;
    }

    /** Tells whether anything is said. */
    boolean isEmpty() {
        return !(json instanceof JsonObject object) || object.isEmpty();
    }

    /** Returns what is said of a column, or of a part of a struct, where lists of structs may be said to be structs of lists. */
    Features of(String name) {
        JsonElement its = member(json, name);
        JsonElement ofList = its == null ? member(member(json, ELEMENTS), name) : null;
        if (ofList != null) {
            JsonObject list = new JsonObject();
            list.add(ELEMENTS, ofList);
            its = list;
        }
        return new Features(its);
    }

    /** Returns what is said of the elements of a list. */
    Features ofElements() {
        if (json instanceof JsonArray array) { // as older releases wrote lists
            return new Features(array.isEmpty() ? null : array.get(0));
        }
        return new Features(member(json, ELEMENTS));
    }

    /** Returns the names of the classes that numbers stand for; null where they stand for themselves. */
    @Nullable
    List<String> classes() {
        return isA("ClassLabel") ? texts(member(json, "names")) : null;
    }

    private boolean isA(String type) {
        return member(json, TYPE) instanceof JsonPrimitive word
                && word.isString()
                && word.getAsString().equals(type);
    }

    private static @Nullable List<String> texts(@Nullable JsonElement names) {
        if (!(names instanceof JsonArray array)) {
            return null;
        }
        List<String> texts = new ArrayList<>();
        for (JsonElement name : array) {
            if (!(name instanceof JsonPrimitive text)) {
                return null;
            }
            texts.add(text.getAsString());
        }
        return texts;
    }

    /** Returns the declared shape of a row with so many dimensions; null where none is declared, or not all of it. */
    long @Nullable [] shape(int dimensions) {
        return isA("Array" + dimensions + "D") ? numbers(member(json, "shape"), dimensions) : null;
    }

    /** Reads so many numbers; null where it has anything else. */
    static long @Nullable [] numbers(@Nullable JsonElement json, int count) {
        if (!(json instanceof JsonArray array) || array.size() != count) {
            return null;
        }
        long[] numbers = new long[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = number(array.get(i));
            if (numbers[i] < 0) {
                return null;
            }
        }
        return numbers;
    }

    /** Returns a whole number from 0 on; -1 where it is anything else. */
    static long number(@Nullable JsonElement json) {
        try {
            return json instanceof JsonPrimitive number && number.isNumber() ? Math.max(-1, number.getAsLong()) : -1;
        } catch (NumberFormatException e) { // such as 1e9999999
            return -1;
        }
    }

    @Override
    public String toString() {
        return Objects.toString(json);
    }
}
