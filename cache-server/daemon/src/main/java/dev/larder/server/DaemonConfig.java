package dev.larder.server;

import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

/**
 * The configuration of a daemon.
 *
 * @param store the folder of its store
 * @param capacityBytes how much it may hold; empty: 80 % of the space that the mount and the cgroup leave
 * @param workers threads that copy, unless a load overrides it; 0: one for each processor
 * @param sharing the users that may use the store besides its owner
 * @param verifies whether to compare the data of an earlier daemon with its checksums; called again during the comparison, so that it can
 *     be stopped
 * @param collapses whether to move data from small pages to huge ones, in the background
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

    /** Configures a daemon for this user only that trusts the data of an earlier daemon. */
    public DaemonConfig(Path store, OptionalLong capacityBytes, int workers) {
        this(store, capacityBytes, workers, Sharing.NONE, () -> false, true);
    }
}
