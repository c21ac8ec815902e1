package dev.larder.spark.launch;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * What the tasks of a gang need to know.
 *
 * @param launch names the launch
 * @param nodes how many nodes start
 * @param maxRestarts how often ranks may start again, lost executors included
 * @param restarts how often they have before this gang
 * @param options what the launcher of each node is told
 * @param command what ranks run
 * @param program the larder command; a node whose executor has {@code LARDER_COMMAND} takes that
 * @param store the store of each node; empty where the environment of its executor says it
 * @param folder where launchers run, if there is such a folder
 * @param secret of the run
 * @param graceMs how long a launcher may take to end
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

    /** What tasks are told where people stop a launch, and nothing is to start again. */
    static final String STOPPED = "larder: people have stopped the launch";

    /** Leaves the secret out. */
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
            words.add("--quiet"); // node 0 says it
        }
        words.addAll(options);
        words.add("--");
        words.addAll(command);
        return words;
    }
}
