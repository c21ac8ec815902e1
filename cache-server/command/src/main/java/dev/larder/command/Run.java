package dev.larder.command;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.command.output.Units;
import dev.larder.command.program.Caller;
import dev.larder.command.program.HeldName;
import dev.larder.command.program.ProgramWords;
import dev.larder.command.program.Redirection;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.time.Deadline;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Becomes another program, which holds datasets for as long as it lives. */
@Command(
        name = "run",
        description = {
            "Become another program that holds datasets while it runs: they are not evicted, and a reload does not"
                    + " remove them. Waits for datasets that are loading or registered.",
            "The program finds $$LARDER_STORE and, for each NAME, $$LARDER_PATH_<NAME>: the folder of the version, or"
                    + " the file of an array (DATASET/ARRAY). In <NAME>, letters are capitals, and other characters except"
                    + " digits are _.",
            "The exit code is the program's; 127 if there is no such program, 126 if it cannot be run."
        },
        customSynopsis = "larder run [--hold NAME...] [--redirect] [--timeout=D] [--store=DIR] -- CMD...")
final class Run implements Callable<Integer> {
    @ParentCommand
    LarderCommand larder;

    @Spec
    CommandSpec spec;

    @Option(
            names = "--hold",
            paramLabel = "NAME",
            arity = "1..*",
            split = ",",
            description = "Hold these datasets; DATASET/ARRAY names one array. Ends with -- or another option.")
    List<String> names = List.of();

    @Option(
            names = "--redirect",
            description = {
                "In Python (not python -S, -E or -I), np.load of a .npy or .npz file that was loaded and has not"
                        + " changed since, and np.memmap of one with mode r, also of raw bytes, return the shared,"
                        + " read-only array: of the held datasets or, if none is held, of any resident one.",
            })
    boolean redirect;

    @Option(
            names = "--timeout",
            paramLabel = "D",
            defaultValue = "10m",
            converter = Units.DurationConverter.class,
            description = "How long to wait for datasets (default: 10m).")
    Duration timeout;

    @Parameters(paramLabel = "CMD", arity = "1..*", description = "The program and its arguments.")
    List<String> command;

    @Override
    public Integer call() {
        Map<String, HeldName> held = held();
        if (held.isEmpty() && !redirect) {
            throw new ParameterException(spec.commandLine(), "nothing to hold: give --hold NAME, or --redirect");
        }
        ProgramWords program = ProgramWords.of(command);
        if (!program.isFound(System.getenv("PATH"))) {
            return program.notFound(larder.err());
        }
        Path store = larder.store();
        Map<String, @Nullable String> environment = Caller.variables(System.getProperties());
        environment.put(StoreLocation.STORE_VARIABLE, store.toString());
        Map<String, Dataset> datasets = Map.of();
        if (!held.isEmpty()) {
            datasets = open(Larder.connect(store), held);
            for (Map.Entry<String, HeldName> entry : held.entrySet()) {
                environment.put(entry.getKey(), path(entry.getValue(), datasets));
            }
        }
        if (redirect) {
            Redirection.prepare(datasets.values(), environment);
        }
        return become(program, environment, datasets);
    }

    private int become(ProgramWords program, Map<String, @Nullable String> environment, Map<String, Dataset> datasets) {
        Posix posix = Posix.system();
        environment.forEach(posix::changeEnvironment);
        posix.closeAtExecAllBut(Caller.descriptors(System.getProperties()));
        datasets.values().forEach(dataset -> dataset.stored().keepLeaseAcrossExec());
        larder.out().flush();
        larder.err().flush();
        return program.cannotRun(posix.become(program.bytes()), larder.err());
    }

    /** Sorts names by their variables; fails if two names share a variable. */
    private Map<String, HeldName> held() {
        Map<String, HeldName> held = new LinkedHashMap<>();
        for (String name : names) {
            HeldName next = HeldName.parse(name);
            HeldName other = held.putIfAbsent(next.variable(), next);
            if (other != null && !other.equals(next)) {
                throw new ParameterException(
                        spec.commandLine(),
                        "names share the variable " + next.variable() + ": " + other + ", " + next
                                + "; hold one of them in a larder run of its own");
            }
        }
        return held;
    }

    private Map<String, Dataset> open(Larder store, Map<String, HeldName> held) {
        Map<String, Dataset> datasets = new LinkedHashMap<>();
        Deadline deadline = Deadline.after(timeout);
        for (HeldName name : held.values()) {
            datasets.computeIfAbsent(name.dataset(), dataset -> store.dataset(dataset, deadline.remaining()));
        }
        return datasets;
    }

    private String path(HeldName name, Map<String, Dataset> datasets) {
        Dataset dataset = Objects.requireNonNull(datasets.get(name.dataset()));
        String array = name.array();
        if (array == null) {
            return dataset.stored().folder().toString();
        }
        Path file = dataset.stored().file(array);
        if (StoreLayout.isPack(String.valueOf(file.getFileName()))) {
            larder.err()
                    .println("larder: note: many arrays share the file of " + name + "; larder info " + name
                            + " tells the offset");
        }
        return file.toString();
    }
}
