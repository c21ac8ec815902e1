package dev.larder.command.program;

import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Lets Python programs read cached arrays in place of the source files that they open. */
public final class Redirection {
    private static final String PYTHON_PROPERTY = "larder.python";
    private static final String PYTHON_PATH = "PYTHONPATH";

    /** The variable with the datasets to use: {@code dataset/version}, separated by colons; empty for all resident ones. */
    private static final String VARIABLE = "LARDER_REDIRECT";

    private Redirection() {}

    /** Adds the variables of {@code sitecustomize.py} to an environment. */
    public static void prepare(Collection<Dataset> held, Map<String, @Nullable String> environment) {
        Path folder =
                Path.of(System.getProperty(PYTHON_PROPERTY, ""), "redirect").toAbsolutePath();
        if (!Files.isReadable(folder.resolve("sitecustomize.py"))) {
            throw Failure.of(ErrorCode.UNEXPECTED, "no Python files for --redirect")
                    .with("folder", folder)
                    .remedy("start Larder by its script, or name the folder of its Python package with -D"
                            + PYTHON_PROPERTY);
        }
        String path = System.getenv(PYTHON_PATH);
        environment.put(PYTHON_PATH, path == null || path.isEmpty() ? folder.toString() : folder + ":" + path);
        environment.put(
                VARIABLE,
                held.stream()
                        .map(dataset -> dataset.name() + "/" + dataset.version())
                        .collect(Collectors.joining(":")));
    }
}
