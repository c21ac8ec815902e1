package dev.larder.command.output;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One object of JSON: its keys stand in the order in which they were given. */
public final class JsonFields {
    private final Map<String, @Nullable Object> fields = new LinkedHashMap<>();

    /** Adds a key: its value is a number, a truth value, null, a collection, another object, or the text of anything else. */
    public JsonFields with(String key, @Nullable Object value) {
        fields.put(key, value);
        return this;
    }

    Map<String, @Nullable Object> map() {
        return fields;
    }
}
