package dev.larder.command.launch;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options for a launch by Spark. */
public final class SparkOptions {
    /** The options that Spark's side sets for a node, or that do not concern a node. */
    private static final Set<String> NOT_FOR_NODES = Set.of(
            "--store",
            "--via",
            "--master",
            "--conf",
            "--nnodes",
            "--node-rank",
            "--rdzv-endpoint",
            "--rdzv-id",
            "--rdzv-secret-file",
            "--rdzv-timeout",
            "--master-addr",
            "--max-restarts",
            "--no-forward",
            "--no-stdin");

    /** The options for the meeting of nodes, which Spark's side sets. */
    private static final Set<String> REFUSED =
            Set.of("--node-rank", "--rdzv-endpoint", "--rdzv-id", "--master-addr", "--no-forward");

    @Spec(Spec.Target.MIXEE)
    CommandSpec spec;

    @Option(
            names = "--via",
            paramLabel = "spark",
            description =
                    "Let Spark start the machines of --nnodes as tasks of its executors, and start them again if one is lost.")
    @Nullable
    String engine;

    @Option(
            names = "--master",
            paramLabel = "URL",
            description =
                    "With --via spark: the master, such as spark://HOST:7077 or yarn (default: local-cluster[N,1,1024], N executors on"
                            + " this machine).")
    @Nullable
    String master;

    @Option(
            names = "--conf",
            paramLabel = "KEY=VALUE",
            description =
                    "With --via spark: a setting of Spark, such as spark.executor.cores=8. May be given several times.")
    List<String> settings = List.of();

    /** Returns whether Spark starts the nodes. */
    public boolean isAsked() {
        if (engine == null && (master != null || !settings.isEmpty())) {
            throw new ParameterException(spec.commandLine(), "--master and --conf are for --via spark");
        }
        if (engine != null && !engine.equals("spark")) {
            throw new ParameterException(spec.commandLine(), "--via is spark, not '" + engine + "'");
        }
        if (engine == null) {
            return false;
        }
        for (String setting : settings) {
            if (setting.indexOf('=') <= 0) {
                throw new ParameterException(spec.commandLine(), "--conf is KEY=VALUE, not '" + setting + "'");
            }
        }
        for (OptionSpec option : given()) {
            if (REFUSED.contains(option.longestName())) {
                throw Failure.of(ErrorCode.USAGE, "Spark assigns the nodes")
                        .with("option", option.longestName())
                        .remedy("leave it out with --via spark");
            }
        }
        return true;
    }

    String master(int nodes) {
        return master == null ? "local-cluster[" + nodes + ",1,1024]" : master;
    }

    /** Returns the options for the launcher of each node, as they were given. */
    List<String> forNodes() {
        List<String> words = new ArrayList<>();
        for (OptionSpec option : given()) {
            String name = option.longestName();
            if (NOT_FOR_NODES.contains(name)) {
                continue;
            }
            if (option.arity().max() == 0) {
                words.add(name);
            } else {
                option.originalStringValues().forEach(value -> words.add(name + "=" + value));
            }
        }
        return words;
    }

    private List<OptionSpec> given() {
        return spec.commandLine().getParseResult().matchedOptions();
    }
}
