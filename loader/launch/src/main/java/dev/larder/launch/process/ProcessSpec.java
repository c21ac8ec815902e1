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
public record ProcessSpec(
        List<String> words,
        Map<String, @Nullable String> environment,
        @Nullable Path folder,
        OutputRedirect output,
        boolean isInputInherited) {
    private static final String PYTHON_UNBUFFERED = "PYTHONUNBUFFERED";

    /** Copies what it is given. */
    public ProcessSpec {
        words = List.copyOf(words);
        if (words.isEmpty()) {
            throw new IllegalArgumentException("a program needs a name");
        }
        environment = Collections.unmodifiableMap(new HashMap<>(environment));
    }

    /** Describes a program that runs here with this process's environment and no input. */
    public static ProcessSpec of(List<String> words, OutputRedirect output) {
        return new ProcessSpec(words, Map.of(), null, output, false);
    }

    /** Changes what differs from this process's environment. */
    public ProcessSpec withEnvironment(Map<String, @Nullable String> changes) {
        return new ProcessSpec(words, changes, folder, output, isInputInherited);
    }

    /** Has Python say at once what it prints, as on a terminal, unless somebody has decided on that. */
    public ProcessSpec withPromptPython() {
        if (System.getenv(PYTHON_UNBUFFERED) != null || environment.containsKey(PYTHON_UNBUFFERED)) {
            return this;
        }
        Map<String, @Nullable String> changes = new HashMap<>(environment);
        changes.put(PYTHON_UNBUFFERED, "1");
        return withEnvironment(changes);
    }

    /** Changes where it runs. */
    public ProcessSpec in(Path newFolder) {
        return new ProcessSpec(words, environment, newFolder, output, isInputInherited);
    }
}
