package dev.larder.distributed;

import java.util.function.BooleanSupplier;

/** Where the ranks of a subgroup are in the group that it is made of: before they are here, that one knows what became of them. */
final class Membership {
    private final GroupPeers peers;
    private final int[] ranks;

    /** Lists the ranks by their places in the subgroup. */
    Membership(GroupPeers peers, int[] ranks) {
        this.peers = peers;
        this.ranks = ranks.clone();
    }

    /** Fails, and breaks the group that the subgroup is made of, where a member is absent and will not come any more. */
    void requireComing(int place, BooleanSupplier isAbsent, String call) {
        peers.requireComing(ranks[place], isAbsent, "subgroup/" + call);
    }
}
