package dev.larder.server.control;

import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.posix.Posix;

/**
 * Who is at the other end of a connection.
 *
 * @param pid the process, as the kernel noted it when it connected
 * @param uid the user, as the kernel has it
 * @param user the user's name
 * @param isOwner whether everything is allowed: the owner of the store, and root
 */
public record Peer(long pid, int uid, String user, boolean isOwner) {
    /** Returns the daemon as its own client. */
    public static Peer thisProcess() {
        return new Peer(ProcessHandle.current().pid(), Posix.system().userId(), StoreLocation.userName(), true);
    }
}
