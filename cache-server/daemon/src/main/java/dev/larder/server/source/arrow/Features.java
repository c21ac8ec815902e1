package dev.larder.server.source.arrow;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Hugging Face's description of columns, which the types of Arrow lack.
 *
 * @param json the description of one column, or of the columns by name; null if there is none
 */
public record Features(@Nullable JsonElement json) {
    /** No description. */
    public static final Features NONE = new Features(null);

    private static final String ELEMENTS = "feature";

    /** Reads the description in the metadata of a schema; returns none if it is not JSON, or in another form. */
    static Features ofMetadata(String text) {
        try {
            return text.isEmpty()
                    ? NONE
                    : new Features(member(member(JsonParser.parseString(text), "info"), "features"));
        } catch (JsonParseException | IllegalStateException e) {
            return NONE;
        }
    }

    /** Returns a member of an object; null if it has none, or is no object. */
    static @Nullable JsonElement member(@Nullable JsonElement of, String name) {
        return of instanceof JsonObject object ? object.get(name) : null;
    }

    boolean isEmpty() {
        return !(json instanceof JsonObject object) || object.isEmpty();
    }

    /** Returns the description of a column, or of a field of structs. Hugging Face may describe lists of structs as structs of lists. */
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

    /** Returns the description of the elements of a list. */
    Features ofElements() {
        if (json instanceof JsonArray array) { // the form of older releases
            return new Features(array.isEmpty() ? null : array.get(0));
        }
        return new Features(member(json, ELEMENTS));
    }

    /** Returns the names of the classes that numbers mean; null if the numbers are no labels. */
    @Nullable
    List<String> classes() {
        if (!isA("ClassLabel") || !(member(json, "names") instanceof JsonArray names)) {
            return null;
        }
        List<String> texts = new ArrayList<>();
        for (JsonElement name : names) {
            if (!(name instanceof JsonPrimitive text)) {
                return null;
            }
            texts.add(text.getAsString());
        }
        return texts;
    }

    private boolean isA(String type) {
        return new JsonPrimitive(type).equals(member(json, "_type"));
    }

    /** Returns the declared shape of rows with this many dimensions; null if a dimension is not declared. */
    long @Nullable [] shape(int dimensions) {
        if (!isA("Array" + dimensions + "D")
                || !(member(json, "shape") instanceof JsonArray array)
                || array.size() != dimensions) {
            return null;
        }
        long[] shape = new long[dimensions];
        for (int i = 0; i < dimensions; i++) {
            shape[i] = number(array.get(i));
            if (shape[i] < 0) {
                return null;
            }
        }
        return shape;
    }

    /** Returns an integer from 0 on; -1 for anything else. */
    static long number(@Nullable JsonElement json) {
        try {
            return json instanceof JsonPrimitive number && number.isNumber() ? Math.max(-1, number.getAsLong()) : -1;
        } catch (NumberFormatException e) { // such as 1e9999999
            return -1;
        }
    }
}
