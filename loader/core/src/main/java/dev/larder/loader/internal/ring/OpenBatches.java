package dev.larder.loader.internal.ring;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.time.Duration;
import java.util.function.BiFunction;

/** Limits the wait of a consumer that holds every slot itself, so that no slot can be filled. */
public final class OpenBatches {
    /** The time for another thread of the consumer to close a batch; consumers in Python have as long. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private OpenBatches() {}

    /** Returns the longest wait for a batch in nanoseconds. */
    public static long limitNanos(boolean areAllOpen, long timeoutNanos) {
        return areAllOpen ? Math.min(timeoutNanos, PATIENCE.toNanos()) : timeoutNanos;
    }

    /** Returns the failure of a wait that has reached its limit. */
    public static LarderException late(
            boolean areAllOpen, BiFunction<ErrorCode, String, Failure> failure, String slots, String check) {
        return areAllOpen
                ? failure.apply(ErrorCode.DEADLINE, "no slot for the next batch, since all batches are open")
                        .remedy("close batches that you keep, or raise " + slots)
                : failure.apply(ErrorCode.DEADLINE, "no batch within the timeout")
                        .remedy(check + ", or raise timeout(…)");
    }
}
