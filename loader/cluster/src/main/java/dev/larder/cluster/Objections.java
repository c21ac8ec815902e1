package dev.larder.cluster;

import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Why a node may not take part in a run: what it would run is not what the leader would, or it is there already. */
final class Objections {
    /** What all nodes must have in common: the name in a hello, and that for people. */
    private static final List<String> COMMON = List.of("nnodes", "ranks", "maxRestarts", "command", "data");

    private Objections() {}

    /**
     * What speaks against a node.
     *
     * @param rival who has its place already; null where it does not belong to the run
     */
    record Objection(String text, @Nullable Member rival) {
        private static Objection of(String text) {
            return new Objection(text, null);
        }
    }

    /** Returns what speaks against a node; null where nothing does. */
    static @Nullable Objection to(Member caller, Message leader, Collection<Member> members) {
        Message hello = caller.hello();
        if (!hello.text("runName").equals(leader.text("runName"))) {
            return Objection.of(
                    "another run uses this endpoint: rdzvId=" + leader.text("runName") + " own=" + hello.text("runName")
                            + " leader=" + leader.text("host") + "; give each run its own --rdzv-endpoint");
        }
        for (String name : COMMON) {
            if (!hello.text(name).equals(leader.text(name))) {
                return Objection.of("the nodes differ in what they run: " + name + "=" + hello.text(name) + " leader's="
                        + leader.text(name) + " leader=" + leader.text("host")
                        + "; start all nodes with the same options and command");
            }
        }
        for (Member member : members) {
            if (caller.nodeRank() >= 0 && member.nodeRank() == caller.nodeRank()) {
                return new Objection(
                        "this node rank is taken: nodeRank=" + caller.nodeRank() + " by=" + member.text()
                                + "; give every node its own --node-rank, and every run its own --rdzv-id",
                        member);
            }
            if (isOneStore(hello, member.hello())) {
                return new Objection(
                        "two nodes share one store: store=" + hello.text("storePath") + " with=" + member.text()
                                + "; start one node a machine, or give each its own --store",
                        member);
            }
        }
        return null;
    }

    /** Tells whether two have one store, which a daemon may have made since the first of them came. */
    private static boolean isOneStore(Message one, Message other) {
        return one.text("boot").equals(other.text("boot"))
                && (one.text("store").equals(other.text("store"))
                        || one.text("place").equals(other.text("place")));
    }
}
