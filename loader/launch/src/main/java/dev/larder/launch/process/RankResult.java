package dev.larder.launch.process;

import java.util.List;

/**
 * What became of one rank in one attempt.
 *
 * @param pid its process; −1 where there never was one
 * @param lastLines the last lines that it wrote, of both streams
 */
public record RankResult(int rank, long pid, ProcessResult ending, List<String> lastLines) {

    /** Returns why it ended. */
    public ExitCause cause() {
        return ending.cause();
    }
}
