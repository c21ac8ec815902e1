package dev.larder.server.store;

import java.nio.file.Path;
import java.util.List;

/**
 * The state of a folder that may be the store of a dead daemon.
 *
 * @param store the folder
 * @param state its state
 * @param detail such as its daemon, or the reason why nothing was removed; may be empty
 * @param files how many files it has, or had before they were unlinked
 * @param bytes their length
 * @param heldUntilExitBytes the part that stays in memory until its readers end
 * @param leased the versions that are still read, as {@code dataset/version}
 * @param holders the pids of the readers, as far as they are visible
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
    /** The state of a folder. */
    public enum State {
        /** A daemon holds its lock. */
        LIVE,
        /** The store of a dead daemon. */
        DEAD,
        /** The daemon died and left data without a source. */
        COMPUTED,
        /** A store that its daemon left for the next start. */
        KEPT,
        /** A store that was just removed. */
        REMOVED,
        /** A store of another user. */
        FOREIGN,
        /** Not a store, in spite of its name. */
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
