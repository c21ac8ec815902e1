package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import java.nio.file.Files;
import java.time.Duration;

/** Waits for the daemon. */
final class DaemonWait {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(5);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(200);

    private DaemonWait() {}

    /** Waits until a daemon responds at the store. The pauses between attempts grow. */
    static void awaitStore(StoreLayout store, Duration timeout) {
        Deadline deadline = Deadline.after(timeout);
        Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
        while (!answers(store, deadline.remaining())) {
            if (deadline.isOver()) {
                throw Failure.of(ErrorCode.DEADLINE, "no daemon started in time")
                        .with("store", store.root())
                        .with("timeoutMs", Deadline.nanos(timeout) / 1_000_000)
                        .remedy(Remedy.START_DAEMON);
            }
            if (!backoff.pause(deadline)) {
                throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting for a daemon")
                        .exception();
            }
        }
    }

    private static boolean answers(StoreLayout store, Duration timeLeft) {
        if (!Files.exists(store.socket())) {
            return false;
        }
        try {
            return ControlClient.at(store.root()).patientWithin(timeLeft).info().pid() > 0;
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NO_DAEMON) {
                return false;
            }
            throw e;
        }
    }

    /** Waits until the daemon has loaded a dataset. Fails immediately if the dataset is unknown. */
    static void awaitDataset(StoreLayout store, String dataset, Duration timeout) {
        ControlClient.at(store.root()).patientWithin(timeout).await(dataset, timeout, progress -> {});
    }
}
