package dev.larder.internal.posix;

import java.util.Set;

/**
 * Who connected a socket, as the kernel noted it at that moment: nothing that the process did since changes it.
 *
 * @param pid the process; 0 where it is of another pid namespace
 * @param uid its user
 * @param groupIds its groups, supplementary ones too
 */
public record PeerCredentials(long pid, int uid, Set<Integer> groupIds) {
    /** Copies the set. */
    public PeerCredentials {
        groupIds = Set.copyOf(groupIds);
    }
}
