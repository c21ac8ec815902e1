package dev.larder.launch.process;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A place that one process at a time can have, such as a GPU.
 *
 * @param environment what processes there find changed in their environment; null removes a variable
 */
public record Slot(String name, Map<String, @Nullable String> environment) {
    /** Copies what it is given. */
    public Slot {
        environment = Collections.unmodifiableMap(new HashMap<>(environment));
    }

    /** Returns a place that changes nothing. */
    public static Slot named(String name) {
        return new Slot(name, Map.of());
    }
}
