package dev.larder.command.launch;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options of {@code torchrun} that say nothing new on one machine; what asks for more machines is refused. */
public final class TorchrunOptions {
    @Option(
            names = "--nnodes",
            paramLabel = "1",
            defaultValue = "1",
            description = "Number of machines; only 1 is supported yet.")
    String nodes;

    @Option(
            names = {"--rdzv-id", "--rdzv_id"},
            paramLabel = "NAME",
            description = "The name of the run: TORCHELASTIC_RUN_ID of the ranks.")
    @Nullable
    String runName;

    @Option(
            names = {"--node-rank", "--node_rank"},
            paramLabel = "0",
            defaultValue = "0",
            hidden = true)
    int nodeRank;

    @Option(
            names = {"--rdzv-endpoint", "--rdzv_endpoint"},
            paramLabel = "HOST[:PORT]",
            hidden = true)
    @Nullable
    String endpoint;

    @Option(
            names = {"--master-addr", "--master_addr"},
            paramLabel = "HOST",
            hidden = true)
    @Nullable
    String masterAddress;

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

    /** Refuses what asks for several machines. */
    public void requireOneMachine() {
        if (!nodes.equals("1") && !nodes.equals("1:1")) {
            throw severalMachines("nnodes", nodes);
        }
        if (nodeRank != 0) {
            throw severalMachines("node-rank", nodeRank);
        }
        requireHere("rdzv-endpoint", endpoint);
        requireHere("master-addr", masterAddress);
    }

    /** Adds what ranks are told of the run. */
    public void addTo(Map<String, @Nullable String> environment) {
        if (runName != null) {
            environment.put("TORCHELASTIC_RUN_ID", runName);
        }
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

    private static void requireHere(String option, @Nullable String place) {
        if (place == null || place.isBlank()) {
            return;
        }
        int colon = place.lastIndexOf(':');
        boolean hasPort = colon > 0 && place.indexOf(':') == colon;
        String host = hasPort ? place.substring(0, colon) : place;
        try {
            InetAddress address = InetAddress.getByName(host);
            if (!address.isLoopbackAddress()
                    && !address.isAnyLocalAddress()
                    && NetworkInterface.getByInetAddress(address) == null) {
                throw severalMachines(option, place);
            }
        } catch (UnknownHostException | SocketException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "no such host")
                    .with(option, place)
                    .cause(e)
                    .remedy("leave it out: ranks of one machine meet at 127.0.0.1");
        }
    }

    private static LarderException severalMachines(String option, Object value) {
        return Failure.of(ErrorCode.REFUSED, "ranks on several machines are not supported yet")
                .with(option, value)
                .remedy(
                        "launch on one machine, or use torchrun or a cluster's scheduler there; see ops/docs/LAUNCH.md");
    }
}
