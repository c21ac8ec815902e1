package dev.larder.command.program;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The environment of the caller before the start script changed it. A program that replaces this command gets it back. */
public final class Caller {
    /** Prefix of properties with variables of the caller: {@code =value}, or empty for unset. */
    private static final String VARIABLES = "larder.caller.";

    /** The property that lists descriptors, separated by commas. */
    private static final String DESCRIPTORS = "larder.descriptors";

    private Caller() {}

    /** Returns the descriptors that the caller passed on; only the standard ones if no script started this JVM. */
    public static Set<Integer> descriptors(Properties properties) {
        return Stream.of(properties.getProperty(DESCRIPTORS, "").split(",", -1))
                .filter(descriptor -> !descriptor.isEmpty())
                .map(Integer::valueOf)
                .collect(Collectors.toSet());
    }

    /** Returns the earlier values of the variables that the script changed for this JVM; null for a variable that was not set. */
    public static Map<String, @Nullable String> variables(Properties properties) {
        Map<String, @Nullable String> variables = new HashMap<>();
        for (String property : properties.stringPropertyNames()) {
            if (property.startsWith(VARIABLES)) {
                String value = properties.getProperty(property);
                variables.put(
                        property.substring(VARIABLES.length()), value.startsWith("=") ? value.substring(1) : null);
            }
        }
        return variables;
    }
}
