package dev.larder.launch.process;

import dev.larder.launch.process.ExitCause.NotStarted;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of one attempt.
 *
 * @param attempt counts from 0
 * @param ranks what became of each rank that was started, in their order
 * @param firstFailure the rank that failed first; null where none failed by itself
 * @param firstFailureNanos when that one died, by {@link System#nanoTime}; 0 where none failed by itself
 * @param ran from the first start to the last end
 */
public record AttemptResult(
        int attempt, List<RankResult> ranks, @Nullable RankResult firstFailure, long firstFailureNanos, Duration ran) {

    /** Copies what it is given. */
    public AttemptResult {
        ranks = List.copyOf(ranks);
    }

    /** Returns whether a rank failed and may do better when all start again: a program that could not be started will not. */
    public boolean isWorthARestart() {
        return firstFailure != null && !(firstFailure.cause() instanceof NotStarted);
    }

    /** Tells whether every rank did what it should. */
    public boolean isSuccess() {
        return firstFailure == null
                && ranks.stream().allMatch(rank -> rank.cause().isSuccess());
    }
}
