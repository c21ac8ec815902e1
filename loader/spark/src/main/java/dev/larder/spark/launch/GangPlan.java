package dev.larder.spark.launch;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * The settings of a gang, sent to its tasks.
 *
 * @param launch the name of the launch
 * @param nodes the number of nodes
 * @param maxRestarts the limit of restarts, including those after a lost executor
 * @param restarts the number of restarts before this gang
 * @param options the options of each launcher
 * @param command the command line of the ranks
 * @param program the larder command, unless the environment of an executor has {@code LARDER_COMMAND}
 * @param store the store of each node; empty for the store that the executor's environment names
 * @param folder the working folder of launchers, on nodes that have it
 * @param secret the secret of the run
 * @param graceMs the time limit for a launcher to end
 */
record GangPlan(
        String launch,
        int nodes,
        int maxRestarts,
        int restarts,
        ArrayList<String> options,
        ArrayList<String> command,
        String program,
        String store,
        String folder,
        String secret,
        long graceMs)
        implements Serializable {
    private static final long serialVersionUID = 1;

    /** The reason of a cancelled job if a user stopped the launch, so that nothing starts again. */
    static final String STOPPED = "larder: the launch was stopped";

    /** Omits the secret. */
    @Override
    public String toString() {
        return "GangPlan[launch=" + launch + ", nodes=" + nodes + ", restarts=" + restarts + ", command=" + command
                + "]";
    }

    /** Returns the command line of one node's launcher. */
    List<String> words(String larder, ExecutorSeat seat, String endpoint, int attempt) {
        List<String> words = new ArrayList<>();
        words.add(larder);
        if (!seat.store().isEmpty()) {
            words.addAll(List.of("--store", seat.store()));
        }
        words.addAll(List.of(
                "launch",
                "--nnodes=" + nodes,
                "--node-rank=" + seat.node(),
                "--rdzv-endpoint=" + endpoint,
                "--rdzv-timeout=2m", // its gang starts as one
                "--rdzv-id=" + launch + "." + restarts + "." + attempt,
                "--max-restarts=" + Math.max(0, maxRestarts - restarts - attempt),
                "--earlier-restarts=" + (restarts + attempt)));
        if (seat.node() > 0) {
            words.add("--quiet"); // node 0 prints the same
        }
        words.addAll(options);
        words.add("--");
        words.addAll(command);
        return words;
    }
}
