package dev.larder.internal.posix;

import java.util.Set;

/**
 * The process at the other end of a socket, as the kernel recorded it when it connected. Later changes of the process do not
 * affect this.
 *
 * @param pid the process; 0 if it is in another pid namespace
 * @param uid its user
 * @param groupIds its groups, including supplementary ones
 */
public record PeerCredentials(long pid, int uid, Set<Integer> groupIds) {
    /** Copies the set. */
    public PeerCredentials {
        groupIds = Set.copyOf(groupIds);
    }
}
