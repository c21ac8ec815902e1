package dev.larder.launch.process;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a launch.
 *
 * @param attempts the results of all attempts, in their order
 * @param isStopped whether it was stopped
 */
public record LaunchResult(List<AttemptResult> attempts, boolean isStopped) {

    /** Copies the collections. */
    public LaunchResult {
        attempts = List.copyOf(attempts);
    }

    /** Returns whether all ranks of the last attempt succeeded, and the launch was not stopped. */
    public boolean isSuccess() {
        return !isStopped && !attempts.isEmpty() && last().isSuccess();
    }

    /** Returns the last attempt. */
    public AttemptResult last() {
        return attempts.get(attempts.size() - 1);
    }

    /** Returns the rank that failed first in the last attempt; null if none failed by itself. */
    public @Nullable RankResult firstFailure() {
        return attempts.isEmpty() ? null : last().firstFailure();
    }
}
