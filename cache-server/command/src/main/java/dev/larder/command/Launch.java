package dev.larder.command;

import dev.larder.cluster.NodeLaunch;
import dev.larder.cluster.NodeOptions;
import dev.larder.cluster.NodeResult;
import dev.larder.command.launch.LaunchData;
import dev.larder.command.launch.LaunchSignals;
import dev.larder.command.launch.NodeDisplay;
import dev.larder.command.launch.NodesOptions;
import dev.larder.command.launch.RankCount;
import dev.larder.command.launch.RankDisplay;
import dev.larder.command.launch.RankOutputOptions;
import dev.larder.command.launch.SparkDriver;
import dev.larder.command.launch.SparkOptions;
import dev.larder.command.launch.TorchrunOptions;
import dev.larder.command.output.Units;
import dev.larder.command.program.Caller;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.time.Deadline;
import dev.larder.launch.process.LaunchPlan;
import dev.larder.launch.process.LaunchResult;
import dev.larder.launch.process.Launcher;
import dev.larder.launch.process.RankResult;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Runs a program as the ranks of one job. */
@Command(
        name = "launch",
        description = {
            "Run a program N times on this machine, as the ranks of one job, like torchrun: each finds RANK,"
                    + " LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT in its environment."
                    + " Needs no daemon.",
            "With --nnodes the ranks of several machines are one job: run this command on each of them, with the same"
                    + " --rdzv-endpoint, an address of one of them.",
            "When a rank fails, the others are ended, and all start again while restarts are left. Ctrl-C asks the"
                    + " ranks to end; a second Ctrl-C kills them. No process that they started survives, however"
                    + " this command ends.",
            "The exit code is that of the rank that failed first (128 + signal), 130 after Ctrl-C. A CMD that ends in"
                    + " .py runs by python3 -u. torchrun's options are accepted, or refused with a reason."
        },
        customSynopsis = "larder launch [-n N] [--max-restarts R] [OPTIONS] -- CMD...")
final class Launch implements Callable<Integer> {
    /** The exit codes of a launch that succeeded or was stopped. */
    private static final Set<Integer> IN_ORDER = Set.of(0, 130, 143);

    /** The end of a launch is the end of its ranks; a year is as good as for ever. */
    @ParentCommand
    LarderCommand larder;

    @Spec
    CommandSpec spec;

    @Mixin
    TorchrunOptions torchrun = new TorchrunOptions();

    @Mixin
    NodesOptions nodes = new NodesOptions();

    @Mixin
    SparkOptions spark = new SparkOptions();

    @Mixin
    RankOutputOptions output = new RankOutputOptions();

    @Option(
            names = {"-n", "--nproc-per-node", "--nproc_per_node"},
            paramLabel = "N",
            defaultValue = "1",
            description = "Number of ranks (default: 1); or cpu: one per core, gpu: one per GPU, auto: gpu, else cpu.")
    String ranks;

    @Option(
            names = {"--max-restarts", "--max_restarts"},
            paramLabel = "R",
            defaultValue = "0",
            description = "How often to restart all ranks after one has failed (default: 0).")
    int maxRestarts;

    /** Set by an engine that starts launchers again, so that ranks resume. */
    @Option(names = "--earlier-restarts", paramLabel = "N", defaultValue = "0", hidden = true)
    int earlierRestarts;

    @Option(
            names = {"--master-port", "--master_port"},
            paramLabel = "PORT",
            defaultValue = "0",
            description = "MASTER_PORT of the ranks (default: a free one).")
    int masterPort;

    @Option(
            names = "--grace",
            paramLabel = "D",
            defaultValue = "10s",
            converter = Units.DurationConverter.class,
            description = "How long ranks may take to end before they are killed (default: 10s).")
    Duration grace;

    @Option(names = "--no-stdin", description = "Give rank 0 no standard input either.")
    boolean noStandardInput;

    @Parameters(paramLabel = "CMD", arity = "1..*", description = "The program and its arguments.")
    List<String> command;

    @Override
    public Integer call() {
        torchrun.refuseOthers();
        if (spark.isAsked()) {
            return onSpark();
        }
        boolean areSeveral = nodes.areSeveral();
        if (!areSeveral) {
            nodes.requireOneMachine();
        }
        LaunchPlan plan = plan();
        RankOutputOptions.Choice choice = output.choice(plan.worldSize());
        LaunchData data = nodes.data(larder.store(), text -> {
            if (!choice.isQuiet()) {
                larder.err().println("larder: " + text);
            }
        });
        NodeOptions node = areSeveral ? nodes.node(plan, larder.store(), data) : null;
        LaunchSignals signals = LaunchSignals.install(larder.err());
        RankDisplay display = new RankDisplay(larder.out(), larder.err(), choice, plan, signals);
        End end = new End(1, () -> {});
        try {
            end = node == null
                    ? onThisMachine(plan, data, signals, display)
                    : onSeveralMachines(node, signals, display);
        } finally {
            if (data != null) {
                data.end(IN_ORDER.contains(end.code()));
            }
        }
        end.reason().run();
        return end.code();
    }

    /**
     * The end of a launch.
     *
     * @param reason prints the reason of a failure, last of all
     */
    private record End(int code, Runnable reason) {}

    private int onSpark() {
        SparkDriver driver = SparkDriver.of(
                spark,
                new SparkDriver.Wanted(
                        nodes.fewest(),
                        nodes.most(),
                        ranks.matches("\\d{1,4}") ? Integer.parseInt(ranks) : 1,
                        maxRestarts,
                        larder.store,
                        nodes.meetingTimeout(),
                        nodes.joinTimeout(),
                        torchrun.grace(grace),
                        nodes.secret(),
                        command));
        return driver.run(larder.out(), larder.err(), LaunchSignals.install(larder.err()));
    }

    private static End onThisMachine(
            LaunchPlan plan, @Nullable LaunchData data, LaunchSignals signals, RankDisplay display) {
        if (data != null && !isLoaded(data, signals, display)) {
            return new End(signals.exitCode(), () -> {});
        }
        try (Launcher launcher = Launcher.start(plan, display)) {
            signals.stop(launcher);
            LaunchResult result = launcher.join(Deadline.FOREVER);
            return new End(exitCode(result, signals), () -> display.ended(result));
        }
    }

    /** Loads; returns false if a signal ended the load. */
    private static boolean isLoaded(LaunchData data, LaunchSignals signals, RankDisplay display) {
        Thread self = Thread.currentThread();
        signals.stop(self::interrupt);
        try {
            data.load();
        } catch (LarderException e) {
            if (signals.exitCode() == 0) {
                throw e;
            }
            display.say(String.valueOf(e.getMessage()));
        }
        signals.stop(() -> {});
        return !Thread.interrupted() && signals.exitCode() == 0;
    }

    private static End onSeveralMachines(NodeOptions node, LaunchSignals signals, RankDisplay ranks) {
        NodeDisplay display = new NodeDisplay(ranks, node.plan().worldSize());
        try (NodeLaunch launch = NodeLaunch.start(node, display)) {
            signals.stop(launch);
            NodeResult result = launch.join(Deadline.FOREVER);
            int code = signals.exitCode() == 0 ? result.exitCode() : signals.exitCode();
            return new End(code, () -> display.tell(result.message()));
        } catch (LarderException e) {
            if (signals.exitCode() == 0) {
                throw e;
            }
            return new End(signals.exitCode(), () -> display.tell(String.valueOf(e.getMessage())));
        }
    }

    private LaunchPlan plan() {
        Map<String, @Nullable String> environment = Caller.variables(System.getProperties());
        torchrun.addTo(environment, !nodes.areSeveral());
        nodes.addTo(environment);
        Path store = larder.store;
        if (store != null || nodes.hasData()) {
            environment.put(
                    StoreLocation.STORE_VARIABLE,
                    larder.store().toAbsolutePath().toString());
        }
        List<String> line = torchrun.commandLine(command, environment, spec.commandLine());
        LaunchPlan plan = LaunchPlan.of(RankCount.parse(ranks, spec.commandLine()), line)
                .withMaxRestarts(maxRestarts)
                .withEarlierRestarts(earlierRestarts)
                .withMasterPort(masterPort)
                .withEnvironment(environment)
                .withGrace(torchrun.grace(grace));
        return noStandardInput ? plan : plan.withInputForRankZero();
    }

    private static int exitCode(LaunchResult result, LaunchSignals signals) {
        int stopped = signals.exitCode();
        if (stopped != 0) {
            return stopped;
        }
        RankResult first = result.firstFailure();
        if (first != null) {
            return first.cause().exitCode();
        }
        return result.isSuccess() ? 0 : 1;
    }
}
