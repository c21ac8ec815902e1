package dev.larder.command.launch;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options of {@code torchrun} that say nothing new here, and how it names the program. */
public final class TorchrunOptions {
    @Option(names = "--role", paramLabel = "NAME", hidden = true)
    @Nullable
    String role;

    @Option(names = "--standalone", hidden = true)
    boolean isStandalone;

    @Option(
            names = {"--no-python", "--no_python"},
            hidden = true)
    boolean isWithoutPython;

    @Option(
            names = {"-m", "--module"},
            description = "CMD is the name of a Python module, which $PYTHON_EXEC -m runs (default: python3).")
    boolean isModule;

    /** What says nothing on one machine; a line may have several of them. */
    @Option(
            names = {
                "--rdzv-backend",
                "--rdzv_backend",
                "--rdzv-conf",
                "--rdzv_conf",
                "--monitor-interval",
                "--monitor_interval",
                "--event-log-handler",
                "--event_log_handler",
                "--start-method",
                "--start_method",
                "--local-addr",
                "--local_addr"
            },
            hidden = true)
    List<String> saysNothing = new ArrayList<>();

    /** Adds what ranks are told of the run. */
    public void addTo(Map<String, @Nullable String> environment) {
        if (role != null) {
            environment.put("ROLE_NAME", role);
        }
    }

    /** Returns the command line of a rank. */
    public List<String> commandLine(List<String> words, Map<String, @Nullable String> environment, CommandLine line) {
        if (!isModule) {
            return words;
        }
        if (isWithoutPython) {
            throw new ParameterException(line, "--module and --no-python exclude each other");
        }
        String python = Objects.requireNonNullElse(environment.get("PYTHON_EXEC"), "python3");
        return Stream.concat(Stream.of(python, "-m"), words.stream()).toList();
    }
}
