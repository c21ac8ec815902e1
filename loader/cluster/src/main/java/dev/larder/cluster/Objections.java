package dev.larder.cluster;

import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Why a node may not take part in a run: what it would run is not what the leader would, or it is there already. */
final class Objections {
    /** What all nodes must have in common: the name in a hello, and that for people. */
    private static final Map<String, Function<Message.Hello, Object>> COMMON = new LinkedHashMap<>();

    static {
        COMMON.put("nnodes", Message.Hello::nnodes);
        COMMON.put("ranks", Message.Hello::ranks);
        COMMON.put("maxRestarts", Message.Hello::maxRestarts);
        COMMON.put("command", Message.Hello::command);
        COMMON.put("data", Message.Hello::data);
    }

    private static final String OWN_RUN = "give another run its own --rdzv-id and --rdzv-endpoint";

    private Objections() {}

    /**
     * What speaks against a node.
     *
     * @param rival the node that has its place; null if it does not belong to the run
     * @param isReplacement whether it is the rival's machine again, so that a silent rival has been replaced
     */
    record Objection(String text, @Nullable Member rival, boolean isReplacement) {
        private static Objection of(String text) {
            return new Objection(text, null, false);
        }

        /** Returns whether the rival was silent for so long that its machine, which came again, has its place. */
        boolean isReplacedAfter(long patienceNanos) {
            return rival != null && isReplacement && System.nanoTime() - rival.heardNanos() > patienceNanos;
        }
    }

    /** Returns the reason of a launcher that came, and whose ranks never ran in a run that ended well. */
    static String unused(String nnodes, String runName) {
        return "this launcher ran no rank, as other nodes had all places until the run ended: nnodes=" + nnodes
                + " rdzvId=" + runName + "; " + OWN_RUN;
    }

    /** Returns the objection to a node in a run of so many places; null if there is none. */
    static @Nullable Objection to(Member caller, Message.Hello leader, Collection<Member> members, int places) {
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
        for (Member member : members) {
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

    /** The rival is the node that was silent for longest: once it is heard, all are there, and no place becomes free. */
    private static Objection full(Message.Hello leader, Collection<Member> members) {
        long now = System.nanoTime();
        Member quietest = members.stream()
                .filter(member -> !member.hello().equals(leader))
                .max(Comparator.comparingLong(member -> now - member.heardNanos()))
                .orElse(null);
        String text = "the run has all its nodes: nnodes=" + leader.nnodes() + " rdzvId=" + leader.runName()
                + " leader=" + leader.host() + "; " + OWN_RUN;
        return new Objection(text, quietest, false);
    }

    /** Tells whether two have one store, which a daemon may have made since the first of them came. */
    private static boolean isOneStore(Message.Hello one, Message.Hello other) {
        return one.boot().equals(other.boot())
                && (one.store().equals(other.store()) || one.place().equals(other.place()));
    }
}
