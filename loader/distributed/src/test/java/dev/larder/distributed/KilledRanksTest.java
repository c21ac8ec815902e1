package dev.larder.distributed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.distributed.region.OwnFolder;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Processes;
import dev.larder.testing.Rounds;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Kills and stops ranks in the middle of random calls.
 */
class KilledRanksTest {
    private static final Rounds ROUNDS = Rounds.of("killed ranks", 3);
    private static final Duration NOTICE = Duration.ofSeconds(15); // by the death, not by the deadline of 30 s
    private static final Duration STOPPED_DEADLINE = Duration.ofSeconds(4); // that ranks of a busy machine keep
    private static final int WORLD_SIZE = 3;
    private static final long LONGEST_RUN_US = 120_000;

    private final OwnFolder folder = new OwnFolder();
    private final ChildJvm[] ranks = new ChildJvm[WORLD_SIZE];

    @AfterEach
    void endRanks() {
        for (ChildJvm rank : ranks) {
            if (rank != null) {
                rank.close();
            }
        }
        folder.close();
    }

    private void start(int rank, int firstRound, Duration timeout) {
        ranks[rank] = ChildJvm.start(
                RankProcess.class,
                folder.path().toString(),
                Integer.toString(rank),
                Integer.toString(WORLD_SIZE),
                Integer.toString(firstRound),
                Long.toString(ROUNDS.seed()),
                Long.toString(timeout.toMillis()));
    }

    @Test
    void theOthersHearWhoDiedLongBeforeTheirDeadline() {
        for (int rank = 0; rank < WORLD_SIZE; rank++) {
            start(rank, 0, Duration.ofSeconds(30));
        }
        for (int round = 0; round < ROUNDS.count(); round++) {
            for (ChildJvm rank : ranks) {
                rank.awaitLine("joined " + round);
            }
            LockSupport.parkNanos(1000 * ROUNDS.random().nextLong(LONGEST_RUN_US)); // to kill one in any call
            killAndReplace(ROUNDS.random().nextInt(WORLD_SIZE), round);
        }
    }

    private void killAndReplace(int victim, int round) {
        long pid = ranks[victim].pid();
        long startNs = System.nanoTime();
        ranks[victim].kill();
        for (int rank = 0; rank < WORLD_SIZE; rank++) {
            if (rank != victim) {
                String line = ranks[rank].awaitLine("failed " + round);
                assertThat(line).as(ROUNDS.toString()).contains("has died: rank=" + victim + " pid=" + pid + " ");
                assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(NOTICE);
            }
        }
        start(victim, round + 1, Duration.ofSeconds(30));
    }

    @Test
    void aStoppedRankIsMissedAtTheDeadlineAndHearsItWhenItGoesOn() throws Exception {
        for (int rank = 0; rank < WORLD_SIZE; rank++) {
            start(rank, 0, STOPPED_DEADLINE);
        }
        for (ChildJvm rank : ranks) {
            rank.awaitLine("joined 0");
        }
        Processes.signal("STOP", ranks[1].pid());

        String missing = "missing=[1 (pid " + ranks[1].pid() + ")]";
        assertThat(ranks[0].awaitLine("failed 0")).contains("DEADLINE", missing, "call=");
        assertThat(ranks[2].awaitLine("failed 0")).contains("DEADLINE", missing, "call=");
        Processes.signal("CONT", ranks[1].pid());
        assertThat(ranks[1].awaitLine("failed 0")).contains("DEADLINE", missing, "call=");
    }

    @Test
    void aRankThatStopsForAWhileHoldsNobodyUpForLonger() throws Exception {
        for (int rank = 0; rank < WORLD_SIZE; rank++) {
            start(rank, 0, Duration.ofSeconds(30));
        }
        ranks[2].awaitLine("joined 0");
        for (int i = 0; i < 3; i++) {
            Processes.signal("STOP", ranks[i].pid());
            LockSupport.parkNanos(Duration.ofMillis(100).toNanos()); // how long it is stopped
            Processes.signal("CONT", ranks[i].pid());
        }

        killAndReplace(0, 0);
    }

    @Tag("slow")
    @Test
    void ranksThatAreStoppedTogetherForLongerThanTheirDeadlineGoOn() throws Exception {
        for (int rank = 0; rank < WORLD_SIZE; rank++) {
            start(rank, 0, STOPPED_DEADLINE);
        }
        for (ChildJvm rank : ranks) {
            rank.awaitLine("joined 0");
        }
        long[] pids = Arrays.stream(ranks).mapToLong(ChildJvm::pid).toArray();
        Processes.signal("STOP", pids);
        LockSupport.parkNanos(STOPPED_DEADLINE.plusSeconds(1).toNanos()); // how long they are stopped
        Processes.signal("CONT", pids);

        killAndReplace(2, 0);
    }
}
