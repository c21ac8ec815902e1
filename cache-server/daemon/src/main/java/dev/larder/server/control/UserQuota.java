package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits a number of items in use, so that one member of the group cannot use up the share of the others, and all members together cannot
 * use up the owner's. Not thread-safe.
 */
public final class UserQuota {
    private final String refusal;
    private final String remedy;
    private final int most;
    private final int mostOfMembers;
    private final int mostOfOneMember;
    private final Map<Integer, Integer> taken = new HashMap<>();
    private int takenInAll;
    private int takenByMembers;

    /**
     * Allows one member an eighth of the items, and reserves a quarter for the owner.
     *
     * @param refusal the beginning of the message of a refusal
     * @param remedy the remedy in a refusal
     */
    public UserQuota(String refusal, int most, String remedy) {
        this.refusal = refusal;
        this.remedy = remedy;
        this.most = most;
        this.mostOfMembers = most - most / 4;
        this.mostOfOneMember = Math.max(1, most / 8);
    }

    /**
     * Takes an item.
     *
     * @throws dev.larder.error.LarderException REFUSED if the peer has used up its share, or none is left
     */
    public void take(Peer peer) {
        if (!tryTake(peer)) {
            throw Failure.of(ErrorCode.REFUSED, refusal)
                    .with("limit", limit(peer))
                    .with("user", peer.user())
                    .with("own", taken.getOrDefault(peer.uid(), 0))
                    .with("all", takenInAll)
                    .remedy(remedy);
        }
    }

    /** Takes an item; returns false if the peer has used up its share, or none is left. */
    boolean tryTake(Peer peer) {
        int own = taken.getOrDefault(peer.uid(), 0);
        boolean isFree = takenInAll < most && own < limit(peer) && (peer.isOwner() || takenByMembers < mostOfMembers);
        if (isFree) {
            taken.put(peer.uid(), own + 1);
            count(peer, 1);
        }
        return isFree;
    }

    private int limit(Peer peer) {
        return peer.isOwner() ? most : mostOfOneMember;
    }

    /** Releases an item. */
    public void release(Peer peer) {
        taken.computeIfPresent(peer.uid(), (uid, count) -> count == 1 ? null : count - 1);
        count(peer, -1);
    }

    private void count(Peer peer, int change) {
        takenInAll += change;
        takenByMembers += peer.isOwner() ? 0 : change;
    }
}
