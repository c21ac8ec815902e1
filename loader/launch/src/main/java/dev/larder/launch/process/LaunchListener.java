package dev.larder.launch.process;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Hears how a launch goes, and says where output is kept. Lines of different ranks come from different threads; all else comes from one. */
public interface LaunchListener {
    /** An attempt begins, with this port as MASTER_PORT. */
    default void attemptStarts(int attempt, int masterPort) {}

    /** A rank wrote lines, one or several. The rank is held up while this does not return. */
    default void lines(int rank, List<OutputLine> lines) {}

    /** A rank has ended, whether well or not, and nothing of it is left. */
    default void rankEnded(int attempt, RankResult end) {}

    /** A rank has failed and the others are asked to end; told once an attempt. */
    default void othersAreEnded(int attempt, int failedRank) {}

    /** All ranks of an attempt have ended. */
    default void attemptEnded(AttemptResult end) {}

    /** The ranks were to start again, and cannot; what became of the attempts so far is the result. */
    default void cannotStartAgain(String reason) {}

    /** Returns where a rank's output is kept; null where it is not. */
    default RankLogs logs(int attempt, int rank) {
        return RankLogs.NONE;
    }

    /** The files that a rank's output goes to, and the one that its error as JSON may go to; null for none. */
    record RankLogs(
            @Nullable Path out,
            @Nullable Path err,
            @Nullable Path error) {
        /** Keeps nothing. */
        public static final RankLogs NONE = new RankLogs(null, null, null);
    }
}
