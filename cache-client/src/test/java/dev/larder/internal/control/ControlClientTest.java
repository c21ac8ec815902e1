package dev.larder.internal.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Welcome;
import dev.larder.testing.ProtocolSamples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class ControlClientTest {
    private static final Welcome WELCOME = new Welcome(Protocol.MAJOR, 3, 1, 42, Duration.ZERO, "test");
    private static final Duration SHORT = Duration.ofMillis(300);

    @TempDir(factory = ShortFolder.class)
    Path store;

    @Test
    void anAbsentSocketIsNoDaemonWithTheRemedy() {
        LarderException failure = failureOf(() -> ControlClient.at(store).status());

        assertThat(failure.code()).isEqualTo(ErrorCode.NO_DAEMON);
        assertThat(failure)
                .hasMessageContaining(store.toString())
                .hasMessageEndingWith("store=" + store
                        + "; start a daemon: larder serve --detach --load NAME=PATH, or name another store: --store DIR,"
                        + " Larder.connect(Path) in Java, or $LARDER_STORE");
    }

    @Test
    void theSocketOfADeadDaemonIsNoDaemon() throws IOException {
        new ScriptedDaemon(store).close();
        assertThat(Files.exists(store.resolve("control.sock"))).isTrue();

        assertThat(failureOf(() -> ControlClient.at(store).status()).code()).isEqualTo(ErrorCode.NO_DAEMON);
    }

    @Test
    void aPathTooLongForASocketSaysSo() {
        Path deep = store.resolve("x".repeat(120));

        assertThatThrownBy(() -> ControlClient.at(deep).status())
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("limit=107")
                .hasMessageContaining("shorter path");
    }

    @Test
    void answersArriveInOrder() throws IOException {
        Progress half = new Progress(Progress.Phase.LOADING, "a", 5, 10, 0, 1, "");
        List<Progress> heard = new ArrayList<>();

        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(WELCOME).answer(half, Done.of(1, 10, "ok"))) {
            Done done = ControlClient.at(store).load(new LoadRequest(List.of(), List.of(), 0), heard::add);

            assertThat(done).isEqualTo(Done.of(1, 10, "ok"));
            assertThat(heard).containsExactly(half);
            assertThat(daemon.received()).element(1).isEqualTo(new LoadRequest(List.of(), List.of(), 0));
        }
    }

    @Test
    void rowsAreCollected() throws IOException {
        ArrayRow row = ProtocolSamples.row(List.of(1L), ArrayRow.State.RESIDENT);

        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(WELCOME).answer(row, row, Done.NOTHING)) {
            assertThat(ControlClient.at(store).list("m", true)).containsExactly(row, row);
            assertThat(daemon.received()).element(1).isEqualTo(new Request.ListArrays("m", true));
        }
    }

    @Test
    void aProblemKeepsACodeThatOnlyALaterVersionKnows() throws IOException {
        try (ScriptedDaemon daemon =
                new ScriptedDaemon(store).answer(WELCOME).answer(new Problem(1234, "odd; sorry"))) {
            LarderException failure = failureOf(() -> ControlClient.at(store).evict("x"));

            assertThat(failure.rawCode()).isEqualTo(1234);
            assertThat(failure).hasMessage("odd; sorry");
            assertThat(daemon.received()).hasSize(2);
        }
    }

    @Test
    void anotherMajorIsRefusedNamingBoth() throws IOException {
        Welcome other = new Welcome(9, 1, 1, 42, Duration.ZERO, "9.1");

        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(other)) {
            LarderException failure = failureOf(() -> ControlClient.at(store).greet());

            assertThat(failure.code()).isEqualTo(ErrorCode.REFUSED);
            assertThat(failure)
                    .hasMessageContaining("daemonProtocol=9.1")
                    .hasMessageContaining("clientProtocol=" + Protocol.MAJOR + "." + Protocol.MINOR)
                    .hasMessageContaining("or with kill -9 42, and run larder serve, which takes its data over");
            assertThat(daemon.received()).hasSize(1);
        }
    }

    @Test
    void aDaemonThatSaysNothingEndsInADeadline() throws IOException {
        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(WELCOME).answer()) {
            LarderException failure =
                    failureOf(() -> ControlClient.at(store).patientFor(SHORT).evict("x"));

            assertThat(failure.code()).isEqualTo(ErrorCode.DEADLINE);
            assertThat(failure).hasMessageContaining("daemon sent nothing");
            assertThat(daemon.received()).hasSize(2);
        }
    }

    @Test
    void aDaemonThatDoesNotAcceptEndsInADeadline() throws IOException {
        try (ScriptedDaemon daemon = ScriptedDaemon.thatNeverAccepts(store)) {
            LarderException failure =
                    failureOf(() -> ControlClient.at(store).patientFor(SHORT).status());

            assertThat(failure.code()).isEqualTo(ErrorCode.DEADLINE);
            assertThat(failure).hasMessageContaining("accepted no connection");
            assertThat(daemon.received()).isEmpty();
        }
    }

    @Test
    void aDaemonThatDiesMeanwhileIsNoDaemon() throws IOException {
        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(WELCOME).hangUp()) {
            assertThat(failureOf(() -> ControlClient.at(store).status()).code()).isEqualTo(ErrorCode.NO_DAEMON);
            assertThat(daemon.received()).isNotEmpty();
        }
    }

    @Test
    void aTimeoutLongerThanAnyClockIsAsGoodAsAnyOther() throws IOException {
        Duration forEver = Duration.ofSeconds(Long.MAX_VALUE);

        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(WELCOME).answer(Done.NOTHING)) {
            assertThat(ControlClient.at(store).await("x", forEver, progress -> {}))
                    .isEqualTo(Done.NOTHING);
            assertThat(daemon.received()).hasSize(2);
        }
    }

    @Test
    void aBuilderListensOnWhileTheDaemonIsSilent() throws Exception {
        Request.Create request = new Request.Create("x", Duration.ofMinutes(1), 0, false);

        Thread listener;
        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(WELCOME).answer(new Build(7, "/folder"));
                BuildTurn turn = ControlClient.at(store)
                        .patientFor(Duration.ofMillis(500))
                        .create(request, progress -> {})
                        .orElseThrow()) {
            listener = Listeners.only();
            listener.join(1_500);

            assertThat(listener.isAlive()).as("listens").isTrue();
            assertThat(turn.folder()).isEqualTo("/folder");
            assertThat(daemon.received()).hasSize(2);
        }
        listener.join(10_000);
        assertThat(listener.isAlive()).as("listens").isFalse();
    }

    @Test
    void anInterruptEndsAWait() throws Exception {
        CompletableFuture<LarderException> failure = new CompletableFuture<>();
        CountDownLatch waiting = new CountDownLatch(1);
        Progress progress = Progress.of(Progress.Phase.WAITING, "x", "");

        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(WELCOME).answer(progress)) {
            Thread waiter = new Thread(() -> failure.complete(failureOf(
                    () -> ControlClient.at(store).await("x", Duration.ofMinutes(1), step -> waiting.countDown()))));
            waiter.start();
            assertThat(waiting.await(60, TimeUnit.SECONDS)).isTrue();
            waiter.interrupt();
            waiter.join(10_000);
            assertThat(daemon.received()).hasSize(2);
        }

        assertThat(failure.join().code()).isEqualTo(ErrorCode.INTERRUPTED);
    }

    private static LarderException failureOf(Runnable action) {
        return catchThrowableOfType(LarderException.class, action::run);
    }
}
