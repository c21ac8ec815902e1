package dev.larder.server;

import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

/**
 * How a daemon is to run.
 *
 * @param store the folder of its store
 * @param capacityBytes how much it may hold; empty: 80 % of what mount and control group leave
 * @param workers threads that copy, where a load does not say; 0: one for each processor
 * @param sharing whom the store is open to
 * @param verifies whether to compare every byte that an earlier daemon left with its checksum; asked again while that is going on,
 *     so that it can be given up
 * @param collapses whether to move what lies on small pages to huge ones, in the background
 */
public record DaemonConfig(
        Path store,
        OptionalLong capacityBytes,
        int workers,
        Sharing sharing,
        BooleanSupplier verifies,
        boolean collapses) {
    /** Rejects a negative number of workers. */
    public DaemonConfig {
        if (workers < 0) {
            throw new IllegalArgumentException("workers=" + workers);
        }
    }

    /** Says how to run for this user alone, where bytes of an earlier daemon are trusted. */
    public DaemonConfig(Path store, OptionalLong capacityBytes, int workers) {
        this(store, capacityBytes, workers, Sharing.NONE, () -> false, true);
    }
}
