package dev.larder.cluster;

import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The rules for admission to a run: a node runs the same program as the leader, and its place is free. */
final class AdmissionRules {
    /** The properties that all nodes have in common, by their names for people. */
    private static final Map<String, Function<Message.Hello, Object>> COMMON = new LinkedHashMap<>();

    static {
        COMMON.put("nnodes", Message.Hello::nnodes);
        COMMON.put("ranks", Message.Hello::ranks);
        COMMON.put("maxRestarts", Message.Hello::maxRestarts);
        COMMON.put("command", Message.Hello::command);
        COMMON.put("data", Message.Hello::data);
    }

    private static final String OWN_RUN = "give another run its own --rdzv-id and --rdzv-endpoint";

    private AdmissionRules() {}

    /**
     * The reason to refuse a node.
     *
     * @param rival the node that has its place; null if it does not belong to the run
     * @param isReplacement whether it comes from the rival's machine, so that it replaces a silent rival
     */
    record Objection(String text, @Nullable RunNode rival, boolean isReplacement) {
        private static Objection of(String text) {
            return new Objection(text, null, false);
        }

        /** Returns whether the node replaces its rival, which was silent for this time. */
        boolean isReplacedAfter(long patienceNanos) {
            return rival != null && isReplacement && System.nanoTime() - rival.heardNanos() > patienceNanos;
        }
    }

    /** Returns the reason for a launcher without ranks in a run that succeeded. */
    static String unused(String nnodes, String runName) {
        return "this launcher ran no rank, as other nodes had all places until the run ended: nnodes=" + nnodes
                + " rdzvId=" + runName + "; " + OWN_RUN;
    }

    /** Returns the objection to a node in a run with this many places; null if there is none. */
    static @Nullable Objection to(RunNode caller, Message.Hello leader, Collection<RunNode> members, int places) {
        Message.Hello hello = caller.hello();
        if (!hello.runName().equals(leader.runName())) {
            return Objection.of("another run uses this endpoint: rdzvId=" + leader.runName() + " own=" + hello.runName()
                    + " leader=" + leader.host() + "; give each run its own --rdzv-endpoint");
        }
        for (Map.Entry<String, Function<Message.Hello, Object>> common : COMMON.entrySet()) {
            Object here = common.getValue().apply(hello);
            Object there = common.getValue().apply(leader);
            if (!here.equals(there)) {
                return Objection.of("the nodes differ in what they run: " + common.getKey() + "=" + here + " leader's="
                        + there + " leader=" + leader.host()
                        + "; start all nodes with the same options and command");
            }
        }
        for (RunNode member : members) {
            if (caller.nodeRank() >= 0 && member.nodeRank() == caller.nodeRank()) {
                return new Objection(
                        "this node rank is taken: nodeRank=" + caller.nodeRank() + " by=" + member.text()
                                + "; give every node its own --node-rank, and every run its own --rdzv-id",
                        member,
                        true);
            }
            if (isOneStore(hello, member.hello())) {
                return new Objection(
                        "two nodes share one store: store=" + hello.storePath() + " with=" + member.text()
                                + "; start one node a machine, or give each its own --store",
                        member,
                        true);
            }
        }
        return members.size() < places ? null : full(leader, members);
    }

    /** The rival is the node with the longest silence: after its next message, no place can become free. */
    private static Objection full(Message.Hello leader, Collection<RunNode> members) {
        long now = System.nanoTime();
        RunNode quietest = members.stream()
                .filter(member -> !member.hello().equals(leader))
                .max(Comparator.comparingLong(member -> now - member.heardNanos()))
                .orElse(null);
        String text = "the run has all its nodes: nnodes=" + leader.nnodes() + " rdzvId=" + leader.runName()
                + " leader=" + leader.host() + "; " + OWN_RUN;
        return new Objection(text, quietest, false);
    }

    /** Returns whether two nodes have one store, which a daemon may have created after the first of them came. */
    private static boolean isOneStore(Message.Hello one, Message.Hello other) {
        return one.boot().equals(other.boot())
                && (one.store().equals(other.store()) || one.place().equals(other.place()));
    }
}
