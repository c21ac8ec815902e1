package dev.larder.spark.launch;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.time.Duration;
import java.util.List;

/**
 * The settings of a launch on Spark's executors.
 *
 * @param minNodes the least number of nodes to start with
 * @param maxNodes the largest number of nodes
 * @param maxRestarts the limit of restarts, after a rank failed or an executor was lost
 * @param options options of {@code larder launch}, such as {@code -n=4} and {@code --data=train=hdfs://nn/train}, but not those for
 *     the rendezvous
 * @param command the command line of the ranks
 * @param program the path of the larder command on all nodes; {@code spark.executorEnv.LARDER_COMMAND} overrides it
 * @param store the store of each node; empty for the default
 * @param folder the working folder of the ranks, on nodes that have it
 * @param secret the secret of the run; empty for a random one
 * @param meeting the time limit to wait for the least number of executors
 * @param join the time to wait for more executors after that
 * @param grace the time limit for ranks to end
 */
public record LaunchRequest(
        int minNodes,
        int maxNodes,
        int maxRestarts,
        List<String> options,
        List<String> command,
        String program,
        String store,
        String folder,
        String secret,
        Duration meeting,
        Duration join,
        Duration grace) {
    private static final Duration USUAL_MEETING = Duration.ofMinutes(10);
    private static final Duration USUAL_JOIN = Duration.ofSeconds(5);
    private static final Duration USUAL_GRACE = Duration.ofSeconds(10);

    /** Throws USAGE if the number of nodes or restarts is out of range, or the command is missing. */
    public LaunchRequest {
        options = List.copyOf(options);
        command = List.copyOf(command);
        if (minNodes < 1 || maxNodes < minNodes || maxRestarts < 0 || command.isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "bad launch")
                    .with("nnodes", minNodes + ":" + maxNodes)
                    .with("maxRestarts", maxRestarts)
                    .with("command", command)
                    .remedy("give 1 node or more, and a command");
        }
    }

    /** Returns a request for this number of nodes, with default time limits and without restarts. */
    public static LaunchRequest of(int nodes, String program, List<String> options, List<String> command) {
        return new LaunchRequest(
                nodes,
                nodes,
                0,
                options,
                command,
                program,
                "",
                System.getProperty("user.dir", "/"),
                "",
                USUAL_MEETING,
                USUAL_JOIN,
                USUAL_GRACE);
    }

    /** Returns a copy with this limit of restarts. */
    public LaunchRequest withMaxRestarts(int restarts) {
        return new LaunchRequest(
                minNodes, maxNodes, restarts, options, command, program, store, folder, secret, meeting, join, grace);
    }

    /** Omits the secret. */
    @Override
    public String toString() {
        return "LaunchRequest[nodes=" + minNodes + ":" + maxNodes + ", maxRestarts=" + maxRestarts + ", options="
                + options + ", command=" + command + ", store=" + store + ", folder=" + folder + "]";
    }
}
