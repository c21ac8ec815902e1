package dev.larder.server.store.version;

import com.google.gson.annotations.SerializedName;
import java.util.Map;

/**
 * The user that had a version published.
 *
 * @param uid the user; -1 for the owner of the store
 * @param user the user's name
 * @param claimedSources by array, the source that a member of the group claims: text that is never opened with the daemon's rights
 */
public record Publisher(
        int uid, String user, @SerializedName("told") Map<String, String> claimedSources) {
    /** The owner of the store, or root. */
    public static final Publisher OWNER = new Publisher(-1, "", Map.of());

    /** Copies the map. */
    public Publisher {
        claimedSources = Map.copyOf(claimedSources);
    }

    /** Returns a member of the group. */
    public static Publisher member(int uid, String user) {
        return new Publisher(uid, user, Map.of());
    }

    /** Returns a copy with the sources that the member claims. */
    public Publisher withClaimedSources(Map<String, String> sources) {
        return new Publisher(uid, user, sources);
    }

    /** Returns whether it is a member of the store's group, not the owner. */
    public boolean isMember() {
        return uid != OWNER.uid;
    }
}
