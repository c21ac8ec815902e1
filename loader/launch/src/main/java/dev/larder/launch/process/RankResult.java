package dev.larder.launch.process;

import java.util.List;

/**
 * The result of one rank in one attempt.
 *
 * @param pid of its process; −1 if it was not started
 * @param lastLines its last lines of both streams
 */
public record RankResult(int rank, long pid, ProcessResult ending, List<String> lastLines) {

    /** Returns the cause of its end. */
    public ExitCause cause() {
        return ending.cause();
    }
}
