package dev.larder.server.store.version;

import java.util.Map;

/**
 * Who had a version published, and what a member of the group said about it.
 *
 * @param uid the user; -1 for the owner of the store
 * @param user the user's name
 * @param told where arrays come from, by array: text that nobody opens with the daemon's rights
 */
public record Publisher(int uid, String user, Map<String, String> told) {
    /** The owner of the store, or root. */
    public static final Publisher OWNER = new Publisher(-1, "", Map.of());

    /** Copies the map. */
    public Publisher {
        told = Map.copyOf(told);
    }

    /** Returns a member of the group. */
    public static Publisher member(int uid, String user) {
        return new Publisher(uid, user, Map.of());
    }

    /** Returns the same, who has said where arrays come from. */
    public Publisher telling(Map<String, String> sources) {
        return new Publisher(uid, user, sources);
    }

    /** Tells whether it is a member of the group that the store is open to, and not its owner. */
    public boolean isMember() {
        return uid != OWNER.uid;
    }
}
