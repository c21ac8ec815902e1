package dev.larder.distributed;

import java.util.function.BooleanSupplier;

/** The places of the ranks of a subgroup in its parent group, which has their state until they join. */
final class Membership {
    private final GroupPeers peers;
    private final int[] ranks;

    /** Lists the ranks by their places in the subgroup. */
    Membership(GroupPeers peers, int[] ranks) {
        this.peers = peers;
        this.ranks = ranks.clone();
    }

    /** Fails, and breaks the parent group, if a member is absent and cannot join any more. */
    void requireComing(int place, BooleanSupplier isAbsent, String call) {
        peers.requireComing(ranks[place], isAbsent, "subgroup/" + call);
    }
}
