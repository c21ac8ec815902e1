package dev.larder.launch.process;

import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A program to start.
 *
 * @param words its name, looked up in the {@code PATH} it will see, and its arguments
 * @param environment what differs from this process's environment; null removes a variable
 * @param folder where it runs; null for where this process does
 * @param isInputInherited whether it reads what this process would; otherwise its standard input is empty
 */
public record Program(
        List<String> words,
        Map<String, @Nullable String> environment,
        @Nullable Path folder,
        Output output,
        boolean isInputInherited) {
    private static final String PYTHON_UNBUFFERED = "PYTHONUNBUFFERED";

    /** Copies what it is given. */
    public Program {
        words = List.copyOf(words);
        if (words.isEmpty()) {
            throw new IllegalArgumentException("a program needs a name");
        }
        environment = Collections.unmodifiableMap(new HashMap<>(environment));
    }

    /** Describes a program that runs here with this process's environment and no input. */
    public static Program of(List<String> words, Output output) {
        return new Program(words, Map.of(), null, output, false);
    }

    /** Changes what differs from this process's environment. */
    public Program withEnvironment(Map<String, @Nullable String> changes) {
        return new Program(words, changes, folder, output, isInputInherited);
    }

    /** Has Python say at once what it prints, as on a terminal, unless somebody has decided on that. */
    public Program withPromptPython() {
        if (System.getenv(PYTHON_UNBUFFERED) != null || environment.containsKey(PYTHON_UNBUFFERED)) {
            return this;
        }
        Map<String, @Nullable String> changes = new HashMap<>(environment);
        changes.put(PYTHON_UNBUFFERED, "1");
        return withEnvironment(changes);
    }

    /** Changes where it runs. */
    public Program in(Path newFolder) {
        return new Program(words, environment, newFolder, output, isInputInherited);
    }
}
