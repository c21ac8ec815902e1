package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.layout.StoreLayout;
import java.nio.file.Files;
import java.time.Duration;

/** Waits for what only a daemon can make. */
final class DaemonWait {
    private DaemonWait() {}

    static void awaitStore(StoreLayout store, Duration timeout) {
        requireDaemon(store, timeout);
    }

    static void awaitDataset(StoreLayout store, String dataset, Duration timeout) {
        requireDaemon(store, timeout);
    }

    private static void requireDaemon(StoreLayout store, Duration timeout) {
        if (Files.exists(store.socket())) {
            return;
        }
        throw Failure.of(ErrorCode.NO_DAEMON, "no daemon to ask")
                .with("store", store.root())
                .with("timeout", timeout)
                .remedy("start one with larder serve");
    }
}
