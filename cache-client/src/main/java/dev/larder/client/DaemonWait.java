package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.layout.StoreLayout;
import dev.larder.protocol.ControlClient;
import java.nio.file.Files;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Waits for what only a daemon can make. */
final class DaemonWait {
    private static final long FIRST_PAUSE_MS = 5;
    private static final long LONGEST_PAUSE_MS = 200;
    private static final Duration LONGEST_WAIT = Duration.ofDays(3650);

    private DaemonWait() {}

    /** Waits until a daemon answers at the store, asking ever more rarely. */
    static void awaitStore(StoreLayout store, Duration timeout) {
        long deadlineNs = System.nanoTime() + nanos(timeout);
        long pauseMs = FIRST_PAUSE_MS;
        while (!answers(store, Duration.ofNanos(deadlineNs - System.nanoTime()))) {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
            if (leftMs <= 0) {
                throw Failure.of(ErrorCode.DEADLINE, "no daemon came up in time")
                        .with("store", store.root())
                        .with("timeoutMs", TimeUnit.NANOSECONDS.toMillis(nanos(timeout)))
                        .remedy("start one with larder serve");
            }
            pause(Math.min(pauseMs, leftMs));
            pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
        }
    }

    /** Returns how long that is, ten years at most: what is longer need not fit into a number. */
    static long nanos(Duration timeout) {
        return (timeout.compareTo(LONGEST_WAIT) < 0 ? timeout : LONGEST_WAIT).toNanos();
    }

    private static boolean answers(StoreLayout store, Duration timeLeft) {
        if (!Files.exists(store.socket())) {
            return false;
        }
        try {
            ControlClient.at(store.root()).patientWithin(timeLeft).greet();
            return true;
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NO_DAEMON) {
                return false;
            }
            throw e;
        }
    }

    private static void pause(long millis) {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting for a daemon")
                    .cause(e)
                    .exception();
        }
    }

    /** Asks the daemon for a dataset that is not resident: waits while it loads, fails at once where nobody knows it. */
    static void awaitDataset(StoreLayout store, String dataset, Duration timeout) {
        ControlClient.at(store.root()).patientWithin(timeout).await(dataset, timeout, progress -> {});
    }
}
