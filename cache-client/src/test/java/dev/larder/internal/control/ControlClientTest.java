package dev.larder.internal.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.FormerProtocol;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response;
import dev.larder.testing.ProtocolSamples;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class ControlClientTest {
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

        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(half, Done.of(1, 10, "ok"))) {
            Done done = ControlClient.at(store).load(new LoadRequest(List.of(), List.of(), 0), heard::add);

            assertThat(done).isEqualTo(Done.of(1, 10, "ok"));
            assertThat(heard).containsExactly(half);
            assertThat(daemon.received()).element(0).isEqualTo(new LoadRequest(List.of(), List.of(), 0));
        }
    }

    @Test
    void rowsAreCollected() throws IOException {
        ArrayRow row = ProtocolSamples.row(List.of(1L), ArrayRow.State.RESIDENT);

        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(new Response.ArrayRows(List.of(row, row)))) {
            assertThat(ControlClient.at(store).list("m", true)).containsExactly(row, row);
            assertThat(daemon.received()).element(0).isEqualTo(new Request.ListArrays("m", true));
        }
    }

    @Test
    void aProblemKeepsACodeThatOnlyALaterVersionKnows() throws IOException {
        try (ScriptedDaemon daemon = new ScriptedDaemon(store)
                .answer(new Problem("dev.larder.Store.Odd", 1234, "odd", Map.of("size", "1"), "sorry", ""))) {
            LarderException failure = failureOf(() -> ControlClient.at(store).evict("x"));

            assertThat(failure.rawCode()).isEqualTo(1234);
            assertThat(failure).hasMessage("odd: size=1; sorry");
            assertThat(daemon.received()).hasSize(1);
        }
    }

    @Test
    void aDaemonOfTheFormerProtocolIsRefusedByName() throws Exception {
        try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listener.bind(Protocol.address(store.resolve("control.sock")));
            CompletableFuture<Void> answered = CompletableFuture.runAsync(() -> answerAsTheFormerProtocol(listener));

            LarderException failure = failureOf(() -> ControlClient.at(store).status());

            assertThat(failure.code()).isEqualTo(ErrorCode.REFUSED);
            assertThat(failure)
                    .hasMessageStartingWith("the daemon uses another protocol: store=" + store)
                    .hasMessageContaining("larder stop --keep of its own release")
                    .hasMessageNotContaining("reason=");
            answered.join();
        }
    }

    /** As it answers bytes that are no frame of its own. */
    private static void answerAsTheFormerProtocol(ServerSocketChannel listener) {
        try (SocketChannel client = listener.accept()) {
            client.read(ByteBuffer.allocate(4096));
            client.write(ByteBuffer.wrap(FormerProtocol.refusal(
                    Failure.of(ErrorCode.BAD_INPUT, "malformed frame").exception())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aDaemonWithoutTheMethodIsRefusedByName() throws IOException {
        Problem unknown = new Problem(
                "org.varlink.service.MethodNotFound",
                7,
                "the daemon has no such method",
                Map.of("method", "Pin"),
                "",
                "");

        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(unknown)) {
            assertThat(failureOf(() -> ControlClient.at(store).pin("x")))
                    .hasMessage("the daemon has no such method: method=Pin");
            assertThat(daemon.received()).hasSize(1);
        }
    }

    @Test
    void sourcesThatDoNotFitIntoAMessageAreSentAhead() throws IOException {
        List<LoadRequest.Source> sources = IntStream.range(0, 50_000)
                .mapToObj(i ->
                        new LoadRequest.Source("n" + i, "/a-path-that-is-not-too-short/" + "deeper/".repeat(8) + i))
                .toList();
        ScriptedDaemon daemon = new ScriptedDaemon(store);
        IntStream.range(0, 500).forEach(i -> daemon.answer(Done.NOTHING));

        try (daemon) {
            ControlClient.at(store).load(new LoadRequest(sources, List.of(), 0), progress -> {});

            List<LoadRequest.Source> received = daemon.received().stream()
                    .flatMap(request -> request instanceof Request.Sources some
                            ? some.sources().stream()
                            : ((LoadRequest) request).sources().stream())
                    .toList();
            assertThat(received).isEqualTo(sources);
            assertThat(daemon.received()).last().isInstanceOf(LoadRequest.class);
        }
    }

    @Test
    void aDaemonThatSaysNothingEndsInADeadline() throws IOException {
        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer()) {
            LarderException failure =
                    failureOf(() -> ControlClient.at(store).patientFor(SHORT).evict("x"));

            assertThat(failure.code()).isEqualTo(ErrorCode.DEADLINE);
            assertThat(failure).hasMessageContaining("daemon sent nothing");
            assertThat(daemon.received()).hasSize(1);
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
        try (ScriptedDaemon daemon = new ScriptedDaemon(store).hangUp()) {
            assertThat(failureOf(() -> ControlClient.at(store).status()).code()).isEqualTo(ErrorCode.NO_DAEMON);
            assertThat(daemon.received()).isNotEmpty();
        }
    }

    @Test
    void aTimeoutLongerThanAnyClockIsAsGoodAsAnyOther() throws IOException {
        Duration forEver = Duration.ofSeconds(Long.MAX_VALUE);

        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(Done.NOTHING)) {
            assertThat(ControlClient.at(store).await("x", forEver, progress -> {}))
                    .isEqualTo(Done.NOTHING);
            assertThat(daemon.received()).hasSize(1);
        }
    }

    @Test
    void aBuilderKeepsItsTurnWhileTheDaemonIsSilent() throws Exception {
        Request.Create request = new Request.Create("x", Duration.ofMinutes(1), 0, false);

        try (ScriptedDaemon daemon = new ScriptedDaemon(store)
                        .answer(new Build("/folder", null))
                        .answer(Done.NOTHING);
                BuildTurn turn = ControlClient.at(store)
                        .patientFor(Duration.ofMillis(500))
                        .create(request, progress -> {})
                        .orElseThrow()) {
            TimeUnit.MILLISECONDS.sleep(1_000); // longer than it is patient

            turn.makeRoom(5);
            assertThat(turn.folder()).isEqualTo("/folder");
            assertThat(daemon.received()).last().isEqualTo(new Request.Room(5));
        }
    }

    @Test
    void noAnswerIsTakenForThatOfALaterCall() throws Exception {
        Request.Create request = new Request.Create("x", Duration.ofMinutes(1), 0, false);

        try (ScriptedDaemon daemon = new ScriptedDaemon(store)
                        .answer(new Build("/folder", null))
                        .answer();
                BuildTurn turn = ControlClient.at(store)
                        .patientFor(SHORT)
                        .create(request, progress -> {})
                        .orElseThrow()) {
            assertThat(failureOf(() -> turn.makeRoom(5)).code()).isEqualTo(ErrorCode.DEADLINE);

            LarderException failure = failureOf(() -> turn.publish(Map.of(), progress -> {}));

            assertThat(failure).hasMessageStartingWith("the previous call on this connection has no answer yet");
            assertThat(daemon.received()).hasSize(2);
        }
    }

    @Test
    void aRequestTooLongForAMessageIsRefused() throws IOException {
        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(Done.NOTHING)) {
            LarderException failure = failureOf(() -> ControlClient.at(store).pin("x".repeat(2 << 20)));

            assertThat(failure.code()).isEqualTo(ErrorCode.USAGE);
            assertThat(failure).hasMessageStartingWith("a request is too long: limit=1048576");
            assertThat(daemon.received()).isEmpty();
        }
    }

    @Test
    void anInterruptEndsAWait() throws Exception {
        CompletableFuture<LarderException> failure = new CompletableFuture<>();
        CountDownLatch waiting = new CountDownLatch(1);
        Progress progress = Progress.of(Progress.Phase.WAITING, "x", "");

        try (ScriptedDaemon daemon = new ScriptedDaemon(store).answer(progress)) {
            Thread waiter = new Thread(() -> failure.complete(failureOf(
                    () -> ControlClient.at(store).await("x", Duration.ofMinutes(1), step -> waiting.countDown()))));
            waiter.start();
            assertThat(waiting.await(60, TimeUnit.SECONDS)).isTrue();
            waiter.interrupt();
            waiter.join(10_000);
            assertThat(daemon.received()).hasSize(1);
        }

        assertThat(failure.join().code()).isEqualTo(ErrorCode.INTERRUPTED);
    }

    private static LarderException failureOf(Runnable action) {
        return catchThrowableOfType(LarderException.class, action::run);
    }
}
