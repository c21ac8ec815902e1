package dev.larder.command.output;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A JSON object that keeps the order of its keys. */
public final class JsonFields {
    private final Map<String, @Nullable Object> fields = new LinkedHashMap<>();

    /** Adds a key. The value is a number, a boolean, null, a collection, another object, or the text of any other object. */
    public JsonFields with(String key, @Nullable Object value) {
        fields.put(key, value);
        return this;
    }

    Map<String, @Nullable Object> map() {
        return fields;
    }
}
