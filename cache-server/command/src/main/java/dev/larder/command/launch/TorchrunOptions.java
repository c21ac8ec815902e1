package dev.larder.command.launch;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options of {@code torchrun} that do not affect ranks, or that are refused, and its ways to name the program. */
public final class TorchrunOptions {
    private static final String PYTHON = "PYTHON_EXEC";

    /** The signals that end the ranks, those that are forwarded to them, and SIGQUIT, which torchrun lists by default. */
    private static final List<String> SIGNALS =
            List.of("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGXCPU", "SIGCONT");

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
            description = "CMD is the name of a Python module, which $PYTHON_EXEC -u -m runs (default: python3).")
    boolean isModule;

    @Option(
            names = {"--signals-to-handle", "--signals_to_handle"},
            paramLabel = "NAMES",
            hidden = true)
    @Nullable
    String signals;

    @Option(
            names = {"--shutdown-timeout", "--shutdown_timeout"},
            paramLabel = "SECONDS",
            hidden = true)
    @Nullable
    Integer shutdownSeconds;

    @Option(
            names = {"--virtual-local-rank", "--virtual_local_rank"},
            hidden = true)
    boolean isVirtualLocalRank;

    @Option(
            names = {"--run-path", "--run_path"},
            hidden = true)
    boolean isRunPath;

    @Option(
            names = {"--numa-binding", "--numa_binding"},
            hidden = true)
    @Nullable
    String numaBinding;

    @Option(
            names = {"--logs-specs", "--logs_specs"},
            hidden = true)
    @Nullable
    String logsSpecs;

    @Option(
            names = {
                "--duplicate-stdout-filters",
                "--duplicate_stdout_filters",
                "--duplicate-stderr-filters",
                "--duplicate_stderr_filters"
            },
            hidden = true)
    List<String> filters = new ArrayList<>();

    /** The internals of torchrun, which do not affect ranks; an option may occur several times. */
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

    /** Refuses unsupported options that would affect ranks. */
    public void refuseOthers() {
        refuse(isVirtualLocalRank, "--virtual-local-rank", "let the program choose its GPU by LOCAL_RANK");
        refuse(isRunPath, "--run-path", "leave it out: a script whose name ends in .py runs by python3 -u");
        refuse(numaBinding != null, "--numa-binding", "start the program by numactl: -- numactl --cpunodebind=0 CMD");
        refuse(logsSpecs != null, "--logs-specs", "use --log-dir, --redirects and --tee");
        refuse(
                !filters.isEmpty(),
                "--duplicate-stdout-filters and --duplicate-stderr-filters",
                "filter the files of --log-dir");
    }

    private static void refuse(boolean isGiven, String option, String remedy) {
        if (isGiven) {
            throw Failure.of(ErrorCode.USAGE, "an option of torchrun is not supported")
                    .with("option", option)
                    .remedy(remedy);
        }
    }

    /** Adds the variables that these options set; a run on one machine may have a name of its own. */
    public void addTo(Map<String, @Nullable String> environment, boolean isOnOneMachine) {
        if (role != null) {
            environment.put("ROLE_NAME", role);
        }
        if (isStandalone && isOnOneMachine) {
            environment.put("TORCHELASTIC_RUN_ID", UUID.randomUUID().toString());
        }
        if (signals != null) {
            environment.put("TORCHELASTIC_SIGNALS_TO_HANDLE", known(signals));
        }
    }

    private static String known(String names) {
        for (String name : names.split(",", -1)) {
            if (!SIGNALS.contains(name)) {
                throw Failure.of(ErrorCode.USAGE, "a signal of --signals-to-handle is not supported")
                        .with("signal", name)
                        .remedy("name some of " + String.join(",", SIGNALS));
            }
        }
        return names;
    }

    /** Returns the time that ranks have to end. */
    public Duration grace(Duration otherwise) {
        return shutdownSeconds == null ? otherwise : Duration.ofSeconds(Math.max(0, shutdownSeconds));
    }

    /** Returns the command line of a rank: as with torchrun, a Python script needs no interpreter before it. */
    public List<String> commandLine(List<String> words, Map<String, @Nullable String> environment, CommandLine line) {
        if (isModule && isWithoutPython) {
            throw new ParameterException(line, "--module and --no-python exclude each other");
        }
        if (isWithoutPython || !(isModule || isScript(words.get(0)))) {
            return words;
        }
        String own = environment.containsKey(PYTHON) ? environment.get(PYTHON) : System.getenv(PYTHON);
        Stream<String> python = Stream.of(Objects.requireNonNullElse(own, "python3"), "-u");
        return Stream.of(python, isModule ? Stream.of("-m") : Stream.<String>empty(), words.stream())
                .flatMap(part -> part)
                .toList();
    }

    /** Returns whether a word names a file of Python that is no program itself. */
    private static boolean isScript(String word) {
        Path file = Path.of(word);
        return word.endsWith(".py") && Files.isRegularFile(file) && !(word.contains("/") && isProgram(file));
    }

    /** Returns whether a file can be run and names its interpreter; some file systems show all files as executable. */
    private static boolean isProgram(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return Files.isExecutable(file) && new String(in.readNBytes(2), StandardCharsets.ISO_8859_1).equals("#!");
        } catch (IOException e) {
            return false;
        }
    }
}
