package dev.larder.server.store;

import java.util.List;

/**
 * The effect of stopping a daemon on its store.
 *
 * @param files how many files were unlinked
 * @param bytes their length
 * @param heldUntilExitBytes the part that stays in memory until its readers end
 * @param holders the pids of the readers, as far as they are visible
 */
public record CleanUp(long files, long bytes, long heldUntilExitBytes, List<Long> holders) {
    public CleanUp {
        holders = List.copyOf(holders);
    }
}
