package dev.larder.launch.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.error.LarderException;
import dev.larder.launch.internal.MasterPort;
import dev.larder.launch.process.ExitCause.Ended;
import dev.larder.launch.process.ExitCause.Exited;
import dev.larder.launch.process.ExitCause.NotStarted;
import dev.larder.launch.process.ExitCause.Signalled;
import dev.larder.testing.Processes;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ranks of a launch, and what becomes of them when one fails. */
class LauncherTest {
    private static final String WAIT = "trap 'exit 0' TERM; while :; do sleep 0.05; done";

    private final Launches heard = new Launches();

    private long awaitNumber(int rank, String word) {
        Long number = await().atMost(Launches.PATIENCE).until(() -> heard.number(rank, word), Objects::nonNull);
        return Objects.requireNonNull(number);
    }

    @Test
    void ranksFindInTheirEnvironmentWhatTorchrunSays() {
        LaunchResult result = heard.run(
                Launches.plan(
                        3,
                        "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $ROLE_RANK/$ROLE_WORLD_SIZE $GROUP_RANK"
                                + " $MASTER_ADDR $TORCHELASTIC_RESTART_COUNT/$TORCHELASTIC_MAX_RESTARTS $TORCHELASTIC_RUN_ID"
                                + " $TORCHELASTIC_USE_AGENT_STORE $LARDER_ATTEMPT; echo port $MASTER_PORT; echo $LARDER_RUN_ID"));

        assertThat(result.isSuccess()).isTrue();
        assertThat(heard.linesOf(2)).startsWith("2/3 2/3 2/3 0 127.0.0.1 0/0 none False 0");
        assertThat(heard.number(0, "port")).isEqualTo(heard.ports().get(0).longValue());
        assertThat(heard.linesOf(0).get(2)).isEqualTo(heard.linesOf(1).get(2)).hasSizeGreaterThan(8);
    }

    @Test
    void theFirstRankThatFailsIsReportedWithItsLastLinesAndTheOthersAreEnded() {
        LaunchResult result = heard.run(
                Launches.plan(
                        3,
                        "if [ $RANK = 1 ]; then echo out of luck >&2; exit 7; fi; trap 'exit 9' TERM; while :; do sleep 0.05; done"));

        RankResult first = Objects.requireNonNull(result.firstFailure());
        assertThat(first.rank()).isEqualTo(1);
        assertThat(first.cause()).isEqualTo(new Exited(7));
        assertThat(first.lastLines()).containsExactly("out of luck");
        assertThat(result.last().ranks().get(0).cause()).isInstanceOf(Ended.class);
        assertThat(result.last().ranks().get(2).cause()).isInstanceOf(Ended.class);
        assertThat(heard.events()).contains("0 failed by 1");
    }

    @Test
    void aKilledRankIsToldApartFromOneThatWasEndedForIt() {
        LaunchResult result = heard.run(Launches.plan(2, "[ $RANK = 0 ] && kill -SEGV $$; " + WAIT));

        assertThat(Objects.requireNonNull(result.firstFailure()).cause()).isEqualTo(new Signalled(11));
        assertThat(result.last().ranks().get(1).cause()).isInstanceOf(Ended.class);
    }

    @Test
    void theRankThatDiedFirstIsTheFirstToFailThoughItsChildrenKeptItFromEnding(@TempDir Path folder) {
        String dies =
                "sh -c 'trap \"\" TERM; echo $PPID >dying; sleep 60' & while [ ! -s dying ]; do sleep 0.02; done; exit 4";
        String misses = "while [ ! -s dying ] || kill -0 $(cat dying); do sleep 0.02; done; exit 5";
        LaunchResult result =
                heard.run(Launches.plan(2, "cd '" + folder + "'; if [ $RANK = 0 ]; then " + dies + "; fi; " + misses));

        assertThat(Objects.requireNonNull(result.firstFailure()).rank()).isZero();
        assertThat(result.last().ranks().get(1).cause()).isEqualTo(new Exited(5));
    }

    @Test
    void allRanksStartAgainWithTheNextAttemptAndAnotherPort(@TempDir Path folder) {
        String saysAndWaitsForTheOther = "cd '" + folder + "'; echo $RANK $LARDER_ATTEMPT $TORCHELASTIC_RESTART_COUNT; "
                + ": >$RANK.$LARDER_ATTEMPT; while [ ! -e 0.$LARDER_ATTEMPT ]; do sleep 0.02; done; ";
        LaunchResult result = heard.run(Launches.plan(2, saysAndWaitsForTheOther + "[ $RANK$LARDER_ATTEMPT != 10 ]")
                .withMaxRestarts(3));

        assertThat(result.isSuccess()).isTrue();
        assertThat(result.attempts()).hasSize(2);
        assertThat(heard.linesOf(0)).containsExactly("0 0 0", "0 1 1");
        assertThat(heard.linesOf(1)).containsExactly("1 0 0", "1 1 1");
    }

    @Test
    void restartsEndWhenThereHaveBeenEnough() {
        LaunchResult result = heard.run(Launches.plan(2, "exit 3").withMaxRestarts(2));

        assertThat(result.attempts()).hasSize(3).noneMatch(AttemptResult::isSuccess);
        assertThat(result.isSuccess()).isFalse();
        assertThat(heard.ports()).hasSize(3);
    }

    @Test
    void aProgramThatIsNotThereIsAFailureWithItsCause() {
        LaunchResult result = heard.run(LaunchPlan.of(2, List.of("no-such-program")));

        assertThat(Objects.requireNonNull(result.firstFailure()).cause())
                .isInstanceOf(NotStarted.class)
                .extracting(ExitCause::exitCode)
                .isEqualTo(127);
    }

    @Test
    void aRankThatIgnoresPoliteSignalsIsKilledAfterTheGrace() {
        LaunchPlan plan = Launches.plan(
                        2,
                        "trap '' TERM INT; echo up $$; [ $RANK = 0 ] || while :; do sleep 0.05; done; sleep 0.2; exit 1")
                .withGrace(Duration.ofMillis(300));

        LaunchResult result = heard.run(plan);

        assertThat(Objects.requireNonNull(result.firstFailure()).rank()).isZero();
        assertThat(result.last().ranks().get(1).cause().exitCode()).isEqualTo(137);
        assertThat(Processes.isRunning(awaitNumber(1, "up"))).isFalse();
    }

    @Test
    void ranksThatAreInterruptedMayEndInOrder() {
        try (Launcher launcher = Launcher.start(
                Launches.plan(2, "trap 'echo bye; exit 0' INT; echo up 1; while :; do sleep 0.05; done"), heard)) {
            awaitNumber(0, "up");
            awaitNumber(1, "up");
            launcher.interrupt();

            LaunchResult result = launcher.join(Launches.PATIENCE);

            assertThat(result.isStopped()).isTrue();
            assertThat(result.firstFailure()).isNull();
            assertThat(heard.linesOf(0)).contains("bye");
            assertThat(heard.linesOf(1)).contains("bye");
        }
    }

    @Test
    void aRankThatIsStoppedCanBeInterrupted() {
        try (Launcher launcher = Launcher.start(Launches.plan(2, "echo up $$; " + WAIT), heard)) {
            long pid = awaitNumber(1, "up");
            awaitNumber(0, "up");
            Processes.signal("STOP", pid);
            launcher.interrupt();

            assertThat(launcher.join(Launches.PATIENCE).isStopped()).isTrue();
            assertThat(Processes.isRunning(pid)).isFalse();
        }
    }

    @Test
    void nothingStartsAgainOnceItIsStopped() {
        try (Launcher launcher = Launcher.start(
                Launches.plan(2, "echo up $$; trap 'exit 1' TERM; while :; do sleep 0.05; done")
                        .withMaxRestarts(9),
                heard)) {
            awaitNumber(0, "up");
            awaitNumber(1, "up");
            launcher.terminate();

            assertThat(launcher.join(Launches.PATIENCE).attempts()).hasSize(1);
        }
    }

    @Test
    void closingKillsEverythingAtOnce() {
        Launcher launcher = Launcher.start(
                Launches.plan(2, "trap '' TERM INT; sleep 600 & echo kin $!; echo up $$; while :; do wait; done"),
                heard);
        List<Long> pids =
                List.of(awaitNumber(0, "up"), awaitNumber(1, "up"), awaitNumber(0, "kin"), awaitNumber(1, "kin"));

        launcher.close();

        assertThat(pids).noneMatch(Processes::isRunning);
        assertThat(launcher.onEnd()).isCompleted();
    }

    @Test
    void aRankThatEndsWhileItsChildHoldsItsOutputOpenHasEnded() {
        long begin = System.nanoTime();
        LaunchResult result = heard.run(Launches.plan(2, "sleep 600 & echo kin $!"));

        assertThat(result.isSuccess()).isTrue();
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(20));
        assertThat(Processes.isRunning(awaitNumber(0, "kin"))).isFalse();
    }

    @Test
    void aFloodOfOutputLosesNothing() {
        LaunchResult result = heard.run(Launches.plan(2, "seq 20000; seq 20000 >&2"));

        assertThat(result.isSuccess()).isTrue();
        assertThat(heard.linesOf(0)).hasSize(40_000);
        assertThat(heard.linesOf(1)).hasSize(40_000);
        assertThat(result.last().ranks().get(0).lastLines()).hasSize(20);
    }

    @Test
    void outputThatIsReadSlowlyIsReadToItsEnd() {
        AtomicInteger lines = new AtomicInteger();
        LaunchListener slow = new LaunchListener() {
            @Override
            public void lines(int rank, List<OutputLine> read) {
                LockSupport.parkNanos(
                        900_000_000); // 3.6 s in all: more than the 2 s for which a join waits for no line
                lines.addAndGet(read.size());
            }
        };
        try (Launcher launcher = Launcher.start(Launches.plan(1, "seq 3000"), slow)) {
            launcher.join(Launches.PATIENCE);
        }
        assertThat(lines).hasValue(3000);
    }

    @Test
    void twoLaunchesAtOnceHaveDifferentPortsAndRuns() {
        Launches other = new Launches();
        String script = "echo port $MASTER_PORT; echo run $LARDER_RUN_ID; " + WAIT;
        try (Launcher one = Launcher.start(Launches.plan(1, script), heard);
                Launcher two = Launcher.start(Launches.plan(1, script), other)) {
            await().atMost(Launches.PATIENCE)
                    .until(() ->
                            heard.linesOf(0).size() == 2 && other.linesOf(0).size() == 2);
            one.terminate();
            two.terminate();
            one.join(Launches.PATIENCE);
            two.join(Launches.PATIENCE);
        }
        assertThat(heard.linesOf(0).subList(0, 2))
                .doesNotContainAnyElementsOf(other.linesOf(0).subList(0, 2));
    }

    @Test
    void theFreePortIsHeldFromOthersButNotFromRankZero() throws IOException {
        try (MasterPort port = MasterPort.take(0);
                ServerSocket rankZero = new ServerSocket(port.number(), 1, InetAddress.getLoopbackAddress())) {
            assertThat(rankZero.isBound()).isTrue();
        }
        try (MasterPort port = MasterPort.take(0);
                ServerSocket other = new ServerSocket()) {
            other.setReuseAddress(false); // as those bind who ask for any free port
            assertThatThrownBy(() -> other.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port.number())))
                    .isInstanceOf(BindException.class);
        }
    }

    @Test
    void aPortInUseIsToldOfBeforeAnythingStarts() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            LaunchPlan plan = Launches.plan(2, "echo up").withMasterPort(other.getLocalPort());

            assertThatThrownBy(() -> Launcher.start(plan, heard))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("master port cannot be used: port=" + other.getLocalPort());
        }
    }

    @Test
    void waitingForRanksThatRunEndsWithTheDeadline() {
        try (Launcher launcher = Launcher.start(Launches.plan(1, WAIT), heard)) {
            assertThatThrownBy(() -> launcher.join(Duration.ofMillis(50))).hasMessageContaining("ranks still run");
        }
    }

    @Test
    void variablesOfThePlanReachTheRanksAndMayBeRemoved() {
        LaunchPlan plan = Launches.plan(1, "echo $A-${HOME-unset}");
        Map<String, @Nullable String> changes = new HashMap<>(Map.of("A", "x"));
        changes.put("HOME", null);

        heard.run(plan.withEnvironment(changes));

        assertThat(heard.linesOf(0)).containsExactly("x-unset");
    }
}
