package dev.larder.launch.process;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of a launch.
 *
 * @param attempts what became of each attempt, in their order
 * @param isStopped whether somebody asked it to stop
 */
public record LaunchResult(List<AttemptResult> attempts, boolean isStopped) {

    /** Copies what it is given. */
    public LaunchResult {
        attempts = List.copyOf(attempts);
    }

    /** Tells whether all ranks of the last attempt did what they should, and nobody asked them to stop. */
    public boolean isSuccess() {
        return !isStopped && !attempts.isEmpty() && last().isSuccess();
    }

    /** Returns the last attempt. */
    public AttemptResult last() {
        return attempts.get(attempts.size() - 1);
    }

    /** Returns the rank that failed first in the last attempt; null where none failed by itself. */
    public @Nullable RankResult firstFailure() {
        return attempts.isEmpty() ? null : last().firstFailure();
    }
}
