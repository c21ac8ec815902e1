package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.HashMap;
import java.util.Map;

/**
 * Bounds the connections, so that no member of the group can keep the others out, nor all of them together the owner. Used by
 * the control thread.
 */
final class ConnectionQuota {
    private final int most;
    private final int mostOfMembers;
    private final int mostOfOneMember;
    private final Map<Integer, Integer> taken = new HashMap<>();
    private int takenInAll;
    private int takenByMembers;

    /** Gives one member an eighth, and leaves the owner a quarter. */
    ConnectionQuota(int most) {
        this.most = most;
        this.mostOfMembers = most - most / 4;
        this.mostOfOneMember = Math.max(1, most / 8);
    }

    /** Takes one; refuses where the peer has its share, or none is left. */
    void take(Peer peer) {
        int own = taken.getOrDefault(peer.uid(), 0);
        int limit = peer.isOwner() ? most : mostOfOneMember;
        if (takenInAll >= most || own >= limit || (!peer.isOwner() && takenByMembers >= mostOfMembers)) {
            throw Failure.of(ErrorCode.REFUSED, "too many connections")
                    .with("limit", limit)
                    .with("user", peer.user())
                    .with("own", own)
                    .with("all", takenInAll)
                    .remedy("try again when some of the waiting clients have finished");
        }
        taken.put(peer.uid(), own + 1);
        count(peer, 1);
    }

    /** Gives one back. */
    void leave(Peer peer) {
        taken.computeIfPresent(peer.uid(), (uid, count) -> count == 1 ? null : count - 1);
        count(peer, -1);
    }

    private void count(Peer peer, int change) {
        takenInAll += change;
        takenByMembers += peer.isOwner() ? 0 : change;
    }
}
