package dev.larder.command;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** What a program that this command becomes finds in its environment besides what is there anyway. */
final class Environment {
    /** Properties so named say what the script that started this JVM found: {@code =value}, or nothing for unset. */
    private static final String CALLERS = "larder.caller.";

    private Environment() {}

    /** Returns the variables that the script changed for this JVM, as they were before; null is one that was not set. */
    static Map<String, @Nullable String> callers(Properties properties) {
        Map<String, @Nullable String> variables = new HashMap<>();
        for (String property : properties.stringPropertyNames()) {
            if (property.startsWith(CALLERS)) {
                String value = properties.getProperty(property);
                variables.put(property.substring(CALLERS.length()), value.startsWith("=") ? value.substring(1) : null);
            }
        }
        return variables;
    }
}
