package dev.larder.command.program;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the script that started this JVM says of its caller, so that a program which this command becomes finds all as it was. */
public final class Caller {
    /** Properties so named say what the script that started this JVM found: {@code =value}, or nothing for unset. */
    private static final String VARIABLES = "larder.caller.";

    /** Lists descriptors, parted by commas. */
    private static final String DESCRIPTORS = "larder.descriptors";

    private Caller() {}

    /** Returns the descriptors that the caller passed on; none but the standard ones where no script says so. */
    public static Set<Integer> descriptors(Properties properties) {
        return Stream.of(properties.getProperty(DESCRIPTORS, "").split(",", -1))
                .filter(descriptor -> !descriptor.isEmpty())
                .map(Integer::valueOf)
                .collect(Collectors.toSet());
    }

    /** Returns the variables that the script changed for this JVM, as they were before; null is one that was not set. */
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
