package dev.larder.launch.process;

import dev.larder.launch.process.ExitCause.NotStarted;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of one attempt.
 *
 * @param attempt counts from 0
 * @param ranks the result of each rank that was started, in their order
 * @param firstFailure the rank that failed first; null if no rank failed by itself
 * @param firstFailureNanos the time of its death by {@link System#nanoTime}; 0 if no rank failed by itself
 * @param ran from the first start to the last end
 */
public record AttemptResult(
        int attempt, List<RankResult> ranks, @Nullable RankResult firstFailure, long firstFailureNanos, Duration ran) {

    /** Copies the collections. */
    public AttemptResult {
        ranks = List.copyOf(ranks);
    }

    /** Returns whether a rank failed and a restart may help: it does not if the program could not be started. */
    public boolean isWorthARestart() {
        return firstFailure != null && !(firstFailure.cause() instanceof NotStarted);
    }

    /** Returns whether every rank succeeded. */
    public boolean isSuccess() {
        return firstFailure == null
                && ranks.stream().allMatch(rank -> rank.cause().isSuccess());
    }
}
