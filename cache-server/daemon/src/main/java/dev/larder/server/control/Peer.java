package dev.larder.server.control;

import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.posix.Posix;

/**
 * The client of a connection.
 *
 * @param pid the process that connected, as the kernel recorded it
 * @param uid the user, as the kernel recorded it
 * @param user the user's name
 * @param isOwner whether everything is allowed: for the owner of the store, and root
 */
public record Peer(long pid, int uid, String user, boolean isOwner) {
    /** Returns the daemon as its own client. */
    public static Peer thisProcess() {
        return new Peer(ProcessHandle.current().pid(), Posix.system().userId(), StoreLocation.userName(), true);
    }
}
