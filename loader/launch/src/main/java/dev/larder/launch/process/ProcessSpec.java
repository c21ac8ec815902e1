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
 * @param words its name, which is looked up in its own {@code PATH}, and its arguments
 * @param environment changes of this process's environment; null removes a variable
 * @param folder its working folder; null for that of this process
 * @param isInputInherited whether it has this process's standard input, which is otherwise empty
 */
public record ProcessSpec(
        List<String> words,
        Map<String, @Nullable String> environment,
        @Nullable Path folder,
        OutputRedirect output,
        boolean isInputInherited) {
    private static final String PYTHON_UNBUFFERED = "PYTHONUNBUFFERED";

    /** Copies the collections. */
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

    /** Changes the changes of the environment. */
    public ProcessSpec withEnvironment(Map<String, @Nullable String> changes) {
        return new ProcessSpec(words, changes, folder, output, isInputInherited);
    }

    /** Lets Python print without a buffer, as on a terminal, unless the environment decides otherwise. */
    public ProcessSpec withPromptPython() {
        if (System.getenv(PYTHON_UNBUFFERED) != null || environment.containsKey(PYTHON_UNBUFFERED)) {
            return this;
        }
        Map<String, @Nullable String> changes = new HashMap<>(environment);
        changes.put(PYTHON_UNBUFFERED, "1");
        return withEnvironment(changes);
    }

    /** Changes the working folder. */
    public ProcessSpec in(Path newFolder) {
        return new ProcessSpec(words, environment, newFolder, output, isInputInherited);
    }
}
