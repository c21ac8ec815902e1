package dev.larder.server.store;

import java.nio.file.Path;
import java.util.List;

/**
 * What a folder that may be the store of a dead daemon turned out to be.
 *
 * @param store the folder
 * @param state what it is
 * @param detail what else there is to say of it: who lives there, why it is left alone; may be empty
 * @param files how many files it has, or had before they were unlinked
 * @param bytes how many bytes these have
 * @param heldUntilExitBytes how many of these stay in memory until their readers end
 * @param leased the versions that are still read, as {@code dataset/version}
 * @param holders the readers, by pid, as far as they can be told
 */
public record StoreReport(
        Path store,
        State state,
        String detail,
        long files,
        long bytes,
        long heldUntilExitBytes,
        List<String> leased,
        List<Long> holders) {
    /** What a folder is. */
    public enum State {
        /** A daemon holds its lock. */
        LIVE,
        /** A store whose daemon died. */
        DEAD,
        /** The daemon died and left data without a source. */
        COMPUTED,
        /** A store whose daemon left it for the next start. */
        KEPT,
        /** A store that was removed just now. */
        REMOVED,
        /** Somebody else's. */
        FOREIGN,
        /** No store, whatever its name says. */
        NO_STORE
    }

    public StoreReport {
        leased = List.copyOf(leased);
        holders = List.copyOf(holders);
    }

    /** Returns whether its daemon died. */
    public boolean isOrphaned() {
        return state == State.DEAD || state == State.COMPUTED;
    }

    static StoreReport leftAlone(Path store, State state, String detail) {
        return new StoreReport(store, state, detail, 0, 0, 0, List.of(), List.of());
    }

    StoreReport as(State newState, String newDetail) {
        return new StoreReport(store, newState, newDetail, files, bytes, heldUntilExitBytes, leased, holders);
    }
}
