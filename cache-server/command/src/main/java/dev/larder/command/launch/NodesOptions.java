package dev.larder.command.launch;

import dev.larder.cluster.NodeData;
import dev.larder.cluster.NodeOptions;
import dev.larder.cluster.NodeOptions.Times;
import dev.larder.cluster.SecretFile;
import dev.larder.command.options.StandardInput;
import dev.larder.command.output.Units;
import dev.larder.distributed.internal.meeting.Endpoint;
import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.launch.process.LaunchPlan;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options for several machines, with the names of {@code torchrun}. */
public final class NodesOptions {
    private static final Pattern NODES = Pattern.compile("(?<min>[1-9]\\d{0,4})(:(?<max>[1-9]\\d{0,4}))?");

    @Spec(Spec.Target.MIXEE)
    CommandSpec spec;

    @Option(
            names = "--nnodes",
            paramLabel = "MIN[:MAX]|slurm",
            defaultValue = "1",
            description =
                    "Number of machines, each of which runs this command (default: 1). With MAX, others may come late, and"
                            + " the rest continues if some are lost. slurm: the nodes of the step that this is a task of.")
    String nodes;

    @Option(
            names = {"--node-rank", "--node_rank"},
            paramLabel = "R",
            defaultValue = "-1",
            description = "Number of this machine, from 0, which leads; default: as they come.")
    int nodeRank;

    @Option(
            names = {"--rdzv-endpoint", "--rdzv_endpoint"},
            paramLabel = "HOST[:PORT]",
            description = "Where the machines meet: an address of one of them (port: 29400).")
    @Nullable
    String endpoint;

    @Option(
            names = {"--rdzv-id", "--rdzv_id"},
            paramLabel = "NAME",
            description = "The name of the run: TORCHELASTIC_RUN_ID of the ranks.")
    @Nullable
    String runName;

    @Option(
            names = {"--master-addr", "--master_addr"},
            paramLabel = "HOST",
            hidden = true)
    @Nullable
    String masterAddress;

    @Option(
            names = "--rdzv-secret-file",
            paramLabel = "FILE",
            description = "The run's secret, the same on all machines; default: $$LARDER_RDZV_SECRET.")
    @Nullable
    Path secretFile;

    @Option(
            names = "--join-timeout",
            paramLabel = "D",
            defaultValue = "5s",
            converter = Units.DurationConverter.class,
            description = "How long to wait for more than MIN machines, and for a lost one (default: 5s).")
    Duration joinTimeout;

    @Option(
            names = "--rdzv-timeout",
            paramLabel = "D",
            defaultValue = "10m",
            converter = Units.DurationConverter.class,
            description = "How long to wait for MIN machines at the begin (default: 10m).")
    Duration meetingTimeout;

    @Option(
            names = "--node-timeout",
            paramLabel = "D",
            defaultValue = "10s",
            converter = Units.DurationConverter.class,
            description = "How long a machine may be silent before it counts as lost (default: 10s).")
    Duration nodeTimeout;

    @Option(
            names = "--no-forward",
            description = "Show the output of ranks on their own machine only, not at the one that leads, too.")
    boolean noForward;

    @Option(
            names = "--data",
            paramLabel = "NAME=PATH[,as=KIND][,whole|shard]",
            converter = DataSource.Converter.class,
            description =
                    "Load this into the store of each machine before a rank starts, by its daemon, which is started where"
                            + " there is none. PATH may be followed by ,whole (each machine loads all of it, the default)"
                            + " or ,shard (each loads an equal share of the rows of each array and column), and by"
                            + " ,as=KIND, which is --as KIND of larder load: arrays, ragged, strings, index, bytes or"
                            + " images; in any order. May be given several times.")
    List<DataSource> data = List.of();

    @Option(
            names = "--data-idle",
            paramLabel = "D",
            defaultValue = "10m",
            converter = Units.DurationConverter.class,
            description =
                    "A daemon that was started for --data, and whose launch was killed or failed, ends when no process has used"
                            + " the data for this long (default: 10m).")
    Duration dataIdle;

    /** Returns whether there is data to load before ranks start. */
    public boolean hasData() {
        return !data.isEmpty();
    }

    /** Returns the data to load before ranks start; */
    public @Nullable LaunchData data(Path store, Consumer<String> said) {
        for (DataSource wanted : data) {
            if (wanted.source().path().equals(StandardInput.PATH)) {
                throw new ParameterException(spec.commandLine(), "--data takes files, not standard input");
            }
        }
        return data.isEmpty() ? null : new LaunchData(data, store, dataIdle, said);
    }

    /** Returns whether the ranks run on several machines, or may. */
    public boolean areSeveral() {
        return isSlurm() || most() > 1;
    }

    /** Returns the fewest machines. */
    public int fewest() {
        return match("min", 1);
    }

    /** Returns the most machines. */
    public int most() {
        return match("max", fewest());
    }

    /** Returns how long to wait for the fewest machines. */
    public Duration meetingTimeout() {
        return meetingTimeout;
    }

    /** Returns how long to wait for more. */
    public Duration joinTimeout() {
        return joinTimeout;
    }

    /** Returns the secret of the run, if one is given. */
    public RunSecret secret() {
        return secretFile == null ? RunSecret.ofEnvironment(System.getenv()) : SecretFile.read(secretFile);
    }

    private boolean isSlurm() {
        return nodes.equals("slurm");
    }

    private int match(String group, int alternative) {
        Matcher matcher = NODES.matcher(nodes);
        if (!matcher.matches()) {
            throw new ParameterException(spec.commandLine(), "--nnodes is N, MIN:MAX or slurm, not '" + nodes + "'");
        }
        String text = matcher.group(group);
        return text == null ? alternative : Integer.parseInt(text);
    }

    /** Adds the name of the run. */
    public void addTo(Map<String, @Nullable String> environment) {
        if (runName != null) {
            environment.put("TORCHELASTIC_RUN_ID", runName);
        }
    }

    /** Refuses an address of another machine in a run on one machine. */
    public void requireOneMachine() {
        if (nodeRank > 0) {
            throw Failure.of(ErrorCode.USAGE, "no such node rank")
                    .with("nodeRank", nodeRank)
                    .with("nnodes", nodes)
                    .remedy("give the number of machines: --nnodes N");
        }
        requireHere("rdzv-endpoint", endpoint);
        requireHere("master-addr", masterAddress);
    }

    private void requireHere(String option, @Nullable String place) {
        if (place == null || place.isBlank() || place.startsWith("0.0.0.0") || place.startsWith("[::]")) {
            return;
        }
        if (!Endpoint.parse(place).isHere()) {
            throw Failure.of(ErrorCode.REFUSED, "one machine cannot meet itself elsewhere")
                    .with(option, place)
                    .with("nnodes", nodes)
                    .remedy("leave it out, or give the number of machines: --nnodes N");
        }
    }

    /** Returns the options of this machine for the run. */
    public NodeOptions node(LaunchPlan plan, Path store, @Nullable NodeData nodeData) {
        Times times = new Times(meetingTimeout, joinTimeout, nodeTimeout);
        RunSecret secret = secret();
        if (isSlurm()) {
            SlurmStep step = SlurmStep.of(System.getenv());
            return new NodeOptions(
                    Objects.requireNonNullElse(runName, step.runName()),
                    endpoint == null ? step.endpoint() : Endpoint.parse(endpoint),
                    step.nodeRank(),
                    step.nodes(),
                    step.nodes(),
                    secret,
                    store,
                    plan,
                    times,
                    false, // srun shows the output of all nodes already
                    nodeData);
        }
        int min = match("min", 1);
        return new NodeOptions(
                Objects.requireNonNullElse(runName, "none"),
                meeting(plan.masterPort()),
                nodeRank,
                min,
                match("max", min),
                secret,
                store,
                endpoint == null ? plan.withMasterPort(0) : plan,
                times,
                !noForward,
                nodeData);
    }

    /**
     * Returns the place where machines meet: without an endpoint, as with {@code torchrun}, the address and port of the master. So two jobs
     * with two ports never meet.
     */
    private Endpoint meeting(int masterPort) {
        if (endpoint != null) {
            return Endpoint.parse(endpoint);
        } else if (masterAddress == null) {
            throw Failure.of(ErrorCode.USAGE, "machines need a place to meet")
                    .with("nnodes", nodes)
                    .remedy("give all of them the same --rdzv-endpoint HOST:PORT, an address of the one that leads");
        }
        Endpoint master = Endpoint.parse(masterAddress);
        return masterPort == 0 ? master : new Endpoint(master.host(), masterPort);
    }
}
