package dev.larder.launch.process;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A slot of a {@link ProcessPool}: one process at a time has it, and the device that it stands for, such as a GPU.
 *
 * @param environment what the slot changes in the environment of its processes; null removes a variable
 */
public record PoolSlot(String name, Map<String, @Nullable String> environment) {
    /** Copies the collections. */
    public PoolSlot {
        environment = Collections.unmodifiableMap(new HashMap<>(environment));
    }

    /** Returns a slot that changes nothing. */
    public static PoolSlot named(String name) {
        return new PoolSlot(name, Map.of());
    }
}
