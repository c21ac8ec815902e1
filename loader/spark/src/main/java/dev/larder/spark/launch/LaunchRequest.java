package dev.larder.spark.launch;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.time.Duration;
import java.util.List;

/**
 * What to launch on Spark's executors.
 *
 * @param minNodes how many nodes it takes to start
 * @param maxNodes how many nodes take part at most
 * @param maxRestarts how often the ranks may start again, after a rank failed or an executor was lost
 * @param options of {@code larder launch}, such as {@code -n=4} and {@code --data=train=hdfs://nn/train}; not those that say where
 *     nodes meet
 * @param command what ranks run
 * @param program the larder command, of the same path on all nodes; where it is another, {@code spark.executorEnv.LARDER_COMMAND} says it
 * @param store the store of each node; empty for the usual one
 * @param folder where ranks run, on nodes that have it
 * @param secret the run's secret; empty for one that is made up
 * @param meeting how long to wait for the fewest executors
 * @param join how long to wait for more than those
 * @param grace how long ranks may take to end
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

    /** Refuses what makes no sense. */
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

    /** Asks for so many nodes that run a command, with the usual times and without restarts. */
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

    /** Changes how often the ranks may start again. */
    public LaunchRequest withMaxRestarts(int restarts) {
        return new LaunchRequest(
                minNodes, maxNodes, restarts, options, command, program, store, folder, secret, meeting, join, grace);
    }

    /** Leaves the secret out. */
    @Override
    public String toString() {
        return "LaunchRequest[nodes=" + minNodes + ":" + maxNodes + ", maxRestarts=" + maxRestarts + ", options="
                + options + ", command=" + command + ", store=" + store + ", folder=" + folder + "]";
    }

    /** Changes the store of each node. */
    public LaunchRequest withStore(String path) {
        return new LaunchRequest(
                minNodes, maxNodes, maxRestarts, options, command, program, path, folder, secret, meeting, join, grace);
    }
}
