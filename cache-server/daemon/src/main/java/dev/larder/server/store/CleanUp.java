package dev.larder.server.store;

import java.util.List;

/**
 * What stopping a daemon did to its store.
 *
 * @param files how many files were unlinked
 * @param bytes how many bytes they had
 * @param heldUntilExitBytes how many of these stay in memory until their readers end
 * @param holders the readers, by pid, as far as they can be told
 */
public record CleanUp(long files, long bytes, long heldUntilExitBytes, List<Long> holders) {
    public CleanUp {
        holders = List.copyOf(holders);
    }
}
