package dev.larder.launch.process;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Receives the events of a launch, and names the files for output. Lines of different ranks come from different threads, other events from one. */
public interface LaunchListener {
    /** An attempt begins, with this port as MASTER_PORT. */
    default void attemptStarts(int attempt, int masterPort) {}

    /** A rank wrote lines, one or several. The rank waits until this returns. */
    default void lines(int rank, List<OutputLine> lines) {}

    /** A rank and its descendants have ended. */
    default void rankEnded(int attempt, RankResult end) {}

    /** A rank has failed, and the others are being ended; called once in an attempt. */
    default void othersAreEnded(int attempt, int failedRank) {}

    /** All ranks of an attempt have ended. */
    default void attemptEnded(AttemptResult end) {}

    /** The ranks cannot start again as planned; the attempts so far are the result. */
    default void cannotStartAgain(String reason) {}

    /** Returns the files for the output of a rank. */
    default RankLogs logs(int attempt, int rank) {
        return RankLogs.NONE;
    }

    /** The files for a rank's output, and for its error as JSON; null for none. */
    record RankLogs(
            @Nullable Path out,
            @Nullable Path err,
            @Nullable Path error) {
        /** No files. */
        public static final RankLogs NONE = new RankLogs(null, null, null);
    }
}
