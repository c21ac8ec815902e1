package dev.larder.distributed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.distributed.region.OwnFolder;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Processes;
import dev.larder.testing.Rounds;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Kills and stops ranks of two nodes in the middle of random calls: a follower, a leader, and all that a node has. */
class KilledNodesTest {
    private static final Rounds ROUNDS = Rounds.of("killed nodes", 2);
    private static final Duration NOTICE = Duration.ofSeconds(10); // by the death, not by the deadline of a minute
    private static final Duration PATIENT = Duration.ofMinutes(1);
    private static final Duration STOPPED_DEADLINE = Duration.ofSeconds(3);
    private static final int WORLD_SIZE = 3;

    private final OwnFolder folder = new OwnFolder();
    private final ChildJvm[] ranks = new ChildJvm[WORLD_SIZE];
    private final int port = NodeGang.freePort();

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
                NodeRankProcess.class,
                folder.path().toString(),
                Integer.toString(rank),
                "2,1",
                Integer.toString(port),
                Integer.toString(firstRound),
                Long.toString(ROUNDS.seed()),
                Long.toString(timeout.toMillis()));
    }

    private void startAll(Duration timeout) {
        for (int rank = 0; rank < WORLD_SIZE; rank++) {
            start(rank, 0, timeout);
        }
    }

    @Test
    void whoeverIsKilledIsNamedOnAllNodesLongBeforeTheDeadline() {
        startAll(PATIENT);
        for (int round = 0; round < ROUNDS.count(); round++) {
            for (ChildJvm rank : ranks) {
                rank.awaitLine("joined " + round);
            }
            LockSupport.parkNanos(ROUNDS.momentNs(100)); // to kill one in any call
            killAndReplace((round + 1) % WORLD_SIZE, round);
        }
    }

    private void killAndReplace(int victim, int round) {
        long pid = ranks[victim].pid();
        long startNs = System.nanoTime();
        ranks[victim].kill();
        for (int rank = 0; rank < WORLD_SIZE; rank++) {
            if (rank != victim) {
                String line = ranks[rank].awaitLine("failed " + round);
                assertThat(line).as("%s victim %d", ROUNDS, victim).containsAnyOf("pid=" + pid, "leaderPid=" + pid);
                assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(NOTICE);
            }
        }
        start(victim, round + 1, PATIENT);
    }

    @Test
    void aStoppedRankIsMissedAtTheDeadlineOnAllNodesAndHearsItWhenItGoesOn() throws Exception {
        startAll(STOPPED_DEADLINE);
        for (ChildJvm rank : ranks) {
            rank.awaitLine("joined 0");
        }
        Processes.signal("STOP", ranks[1].pid());

        String missing = "missing=[1 (pid " + ranks[1].pid() + ")]";
        assertThat(ranks[0].awaitLine("failed 0")).contains("DEADLINE", missing);
        assertThat(ranks[2].awaitLine("failed 0")).contains("DEADLINE", missing);
        Processes.signal("CONT", ranks[1].pid());
        assertThat(ranks[1].awaitLine("failed 0")).contains("DEADLINE", missing);
    }

    @Test
    void aStoppedNodeIsMissedAtTheDeadlineAndHearsItWhenItGoesOn() throws Exception {
        startAll(STOPPED_DEADLINE);
        for (ChildJvm rank : ranks) {
            rank.awaitLine("joined 0");
        }
        Processes.signal("STOP", ranks[2].pid());

        assertThat(ranks[0].awaitLine("failed 0")).contains("DEADLINE", "node=1", "leaderPid=" + ranks[2].pid());
        assertThat(ranks[1].awaitLine("failed 0")).contains("DEADLINE", "node=1", "leaderPid=" + ranks[2].pid());
        Processes.signal("CONT", ranks[2].pid());
        assertThat(ranks[2].awaitLine("failed 0")).contains("node=");
    }
}
