package dev.larder.server.control;

/**
 * Who is at the other end of a connection.
 *
 * @param pid the process, as the kernel noted it when it connected
 * @param uid the user, as the kernel has it
 * @param user the user's name
 * @param isOwner whether everything is allowed: the owner of the store, and root
 */
public record Peer(long pid, int uid, String user, boolean isOwner) {}
