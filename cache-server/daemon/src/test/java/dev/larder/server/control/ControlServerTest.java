package dev.larder.server.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.control.ShortFolder;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class ControlServerTest {
    @TempDir(factory = ShortFolder.class)
    Path store;

    private final ScriptedHandler handler = new ScriptedHandler();
    private final Counters counters = Counters.unshared();
    private final ErrorLog errors = new ErrorLog(Clock.systemUTC());
    private ControlServer server;
    private ControlClient client;

    @BeforeEach
    void start() {
        StoreLayout layout = new StoreLayout(store);
        ControlSettings settings = new ControlSettings(
                layout.socket(),
                "test",
                64,
                Duration.ofSeconds(5),
                Duration.ofSeconds(5),
                Duration.ofMillis(50),
                Duration.ofSeconds(5),
                Duration.ofMillis(500));
        server = ControlServer.start(settings, handler, counters, errors);
        client = ControlClient.at(store);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void theDaemonSaysWhoItIs() {
        assertThat(client.info().pid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(client.info().version()).isEqualTo("test");
        assertThat(client.info().formatVersion()).isEqualTo(StoreLayout.FORMAT_VERSION);
        assertThat(errors.entries()).isEmpty();
    }

    @Test
    void manyRowsArriveWholeAndInOrder() {
        List<ArrayRow> rows =
                IntStream.range(0, 20_000).mapToObj(ControlServerTest::row).toList();
        handler.on((request, reply) -> {
            reply.answer(new Response.ArrayRows(rows));
        });

        assertThat(client.list("a", false)).isEqualTo(rows);
        assertThat(counters.value(Counter.REQUESTS)).isEqualTo(1);
    }

    @Test
    void totalsArrive() {
        DaemonStatus status = new DaemonStatus(
                store.toString(),
                1,
                "v",
                2,
                3,
                4,
                5,
                6,
                12,
                7,
                8,
                "never",
                10,
                11,
                "interleave:0-1",
                Duration.ofSeconds(9),
                "");
        handler.on((request, reply) -> {
            reply.answer(status);
        });

        assertThat(client.status()).isEqualTo(status);
    }

    @Test
    void aWaitingClientHearsTheLastProgressAgainAndAgain() {
        List<Progress> heard = new ArrayList<>();
        CompletableFuture<Reply> pending = new CompletableFuture<>();
        Progress step = Progress.of(Progress.Phase.LOADING, "x", "half way");
        handler.on((request, reply) -> {
            reply.progress(step);
            pending.complete(reply);
        });

        client.await("x", Duration.ofSeconds(30), progress -> {
            heard.add(progress);
            if (heard.size() == 4) {
                pending.join().done(Done.NOTHING);
            }
        });

        assertThat(heard).hasSizeGreaterThanOrEqualTo(4).containsOnly(step);
    }

    @Test
    void theClientsLeavingIsToldToWhoeverWorksForIt() throws Exception {
        CountDownLatch left = new CountDownLatch(1);
        CompletableFuture<Reply> pending = new CompletableFuture<>();
        handler.on((request, reply) -> {
            reply.onDisconnect(left::countDown);
            pending.complete(reply);
        });

        try (RawClient raw = waiting()) {
            assertThat(raw).isNotNull();
            assertThat(pending.get(60, TimeUnit.SECONDS).isConnected()).isTrue();
        }

        assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(pending.join().isConnected()).isFalse();
        CountDownLatch late = new CountDownLatch(1);
        pending.join().onDisconnect(late::countDown);
        assertThat(late.getCount()).isZero();
        pending.join().done(Done.NOTHING);
    }

    @Test
    void nobodyIsToldOfAClientThatLeavesWithItsAnswer() {
        CountDownLatch left = new CountDownLatch(1);
        handler.on((request, reply) -> {
            reply.onDisconnect(left::countDown);
            reply.done(Done.of(1, 2, "ok"));
            reply.problem(new IllegalStateException("too late to matter"));
        });

        assertThat(client.evict("x")).isEqualTo(Done.of(1, 2, "ok"));

        await().until(() -> counters.value(Counter.CONNECTIONS) == 0);
        assertThat(left.getCount()).isEqualTo(1);
        assertThat(errors.entries()).isEmpty();
    }

    @Test
    void aRefusalOfTheHandlerReachesTheClientAsItIs() {
        handler.on((request, reply) -> {
            throw Failure.of(ErrorCode.NOT_FOUND, "no such dataset")
                    .with("name", "x")
                    .remedy("did you mean y?");
        });

        LarderException failure = failureOf(() -> client.evict("x"));

        assertThat(failure.code()).isEqualTo(ErrorCode.NOT_FOUND);
        assertThat(failure).hasMessage("no such dataset: name=x; did you mean y?");
        assertThat(errors.entries()).isEmpty();
    }

    @Test
    void aBugInTheHandlerIsAnsweredAndNoted() {
        handler.on((request, reply) -> {
            throw new IllegalArgumentException("bug");
        });

        assertThat(failureOf(() -> client.evict("x")).code()).isEqualTo(ErrorCode.UNEXPECTED);
        assertThat(failureOf(() -> client.evict("x"))).hasMessageContaining("bug");

        assertThat(errors.entries())
                .singleElement()
                .satisfies(entry -> assertThat(entry.count()).isEqualTo(2));
    }

    @Test
    void anAnswerThatCannotBeEncodedIsAProblemAndNotAHang() {
        handler.on((request, reply) -> reply.answer(new Response.ArrayRows(List.of(row("x".repeat(2 << 20))))));

        LarderException failure = failureOf(() -> client.list("", false));

        assertThat(failure).hasMessageContaining("longer than 1048576 bytes");
        assertThat(errors.entries()).hasSize(1);
    }

    @Test
    void aConnectionServesOneCallAfterTheOther() throws IOException {
        handler.on((request, reply) -> reply.done(Done.of(0, ((Request.Room) request).bytes(), "")));

        try (RawClient raw = raw()) {
            for (int i = 0; i < 100; i++) {
                raw.send(new Request.Room(i));
                assertThat(raw.receive()).isEqualTo(Done.of(0, i, ""));
            }
            for (int i = 0; i < 100; i++) { // without waiting for answers
                raw.send(new Request.Room(i));
            }
            for (int i = 0; i < 100; i++) {
                assertThat(raw.receive()).isEqualTo(Done.of(0, i, ""));
            }
        }
        assertThat(errors.entries()).isEmpty();
    }

    @Test
    void aCallBeginsWhenTheOneBeforeIsAnswered() throws Exception {
        List<Reply> replies = new CopyOnWriteArrayList<>();
        handler.on((request, reply) -> replies.add(reply));

        try (RawClient raw = raw().send(new Request.Room(1), new Request.Room(2))) {
            await().until(() -> replies.size() == 1);
            replies.get(0).done(Done.of(1, 1, ""));
            await().until(() -> replies.size() == 2);
            replies.get(0).done(Done.of(9, 9, "late"));
            replies.get(1).done(Done.of(2, 2, ""));

            assertThat(firstAnswer(raw)).isEqualTo(Done.of(1, 1, ""));
            assertThat(firstAnswer(raw)).isEqualTo(Done.of(2, 2, ""));
        }
    }

    @Test
    void aLongCallThatArrivesEarlyIsReadWhenTheOneBeforeIsAnswered() throws IOException {
        CompletableFuture<Reply> pending = new CompletableFuture<>();
        handler.on((request, reply) -> {
            if (request instanceof Request.Wait) {
                pending.complete(reply);
            } else {
                reply.answer(new Response.ArrayRows(List.of()));
            }
        });

        try (RawClient raw = raw().send(new Request.Wait("x", Duration.ofMinutes(1)))) {
            pending.join();
            raw.send(list("a".repeat(100_000)));
            raw.receive();
            raw.receive(); // a later sign of life: as much of the long call is read as there is room for
            pending.join().done(Done.NOTHING);

            assertThat(firstAnswer(raw)).isEqualTo(Done.NOTHING);
            assertThat(firstAnswer(raw)).isEqualTo(new Response.ArrayRows(List.of()));
        }
    }

    @Test
    void callsOfOthersAreServedBetweenCallsThatArrivedEarly() throws Exception {
        CompletableFuture<Reply> first = new CompletableFuture<>();
        CountDownLatch otherHasCalled = new CountDownLatch(1);
        AtomicInteger early = new AtomicInteger();
        handler.on((request, reply) -> {
            if (request instanceof Request.ListArrays) {
                first.complete(reply);
                return;
            } else if (request instanceof Request.Room) {
                awaitUninterruptibly(otherHasCalled); // on the control thread
                early.incrementAndGet();
            }
            reply.done(Done.of(early.get(), 0, ""));
        });

        try (RawClient flood = raw().send(list("a".repeat(600_000), true) + ROOM.repeat(500));
                RawClient other = raw()) {
            first.join();
            flood.receive();
            flood.receive(); // a later sign of life: the early calls are read
            first.join().done(Done.NOTHING);
            other.send(new Request.Evict("x", false));
            otherHasCalled.countDown();

            assertThat(firstAnswer(other))
                    .isInstanceOfSatisfying(
                            Done.class, done -> assertThat(done.files()).isLessThan(10));
        }
    }

    private static @Nullable Response firstAnswer(RawClient raw) throws IOException {
        Response response = raw.receive();
        while (response instanceof Progress) {
            response = raw.receive();
        }
        return response;
    }

    @Test
    void withoutMoreThereIsOneAnswer() throws IOException {
        handler.on((request, reply) -> {
            reply.progress(Progress.of(Progress.Phase.LOADING, "x", ""));
            reply.answer(new Response.ArrayRows(
                    Collections.nCopies(((Request.ListArrays) request).prefix().length(), row("x"))));
        });

        try (RawClient raw = raw()) {
            raw.send(list("a".repeat(100)));
            assertThat(raw.receive())
                    .isInstanceOfSatisfying(
                            Response.ArrayRows.class,
                            rows -> assertThat(rows.arrays()).hasSize(100));
            raw.send(list("a".repeat(9_000)));
            assertThat(raw.receive())
                    .isInstanceOfSatisfying(
                            Problem.class,
                            problem -> assertThat(problem.error()).isEqualTo("org.varlink.service.ExpectedMore"));
        }
    }

    private static final String ROOM = "{\"method\":\"dev.larder.Store.Room\",\"parameters\":{\"bytes\":1}}\0";

    private static String list(String prefix) {
        return list(prefix, false);
    }

    private static String list(String prefix, boolean more) {
        return "{\"method\":\"dev.larder.Store.List\",\"parameters\":{\"prefix\":\"" + prefix + "\"},\"more\":" + more
                + "}\0";
    }

    @Test
    void aOnewayCallIsNotAnswered() throws IOException {
        CountDownLatch called = new CountDownLatch(2);
        handler.on((request, reply) -> {
            called.countDown();
            reply.done(Done.of(0, called.getCount(), ""));
        });

        try (RawClient raw = raw()) {
            raw.send("{\"method\":\"dev.larder.Store.Room\",\"parameters\":{\"bytes\":1},\"oneway\":true}\0");
            raw.send(new Request.Room(2));

            assertThat(raw.receive()).isEqualTo(Done.of(0, 0, ""));
        }
    }

    @Test
    void aClientThatSendsNoMoreStillGetsItsAnswers() throws IOException {
        CompletableFuture<Reply> pending = new CompletableFuture<>();
        handler.on((request, reply) -> {
            if (request instanceof Request.Wait) {
                pending.complete(reply);
            } else {
                reply.done(Done.of(2, 2, ""));
            }
        });

        try (RawClient raw = raw().send(new Request.Wait("x", Duration.ofMinutes(1)), new Request.Room(2))) {
            raw.endInput();
            pending.join().done(Done.of(1, 1, ""));

            assertThat(firstAnswer(raw)).isEqualTo(Done.of(1, 1, ""));
            assertThat(firstAnswer(raw)).isEqualTo(Done.of(2, 2, ""));
            assertThat(raw.receive()).isNull();
        }
    }

    @Test
    void aClientThatSendsNoMoreAndLeavesIsNoticed() throws Exception {
        CountDownLatch left = new CountDownLatch(1);
        CountDownLatch called = new CountDownLatch(1);
        handler.on((request, reply) -> {
            reply.onDisconnect(left::countDown);
            called.countDown();
        });

        try (RawClient raw = raw().send("{\"method\":\"dev.larder.Store.Room\",\"parameters\":{\"bytes\":1}}\0")) {
            assertThat(called.await(60, TimeUnit.SECONDS)).isTrue();
            raw.endInput();
        }

        assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aOnewayCallThatIsRefusedIsNotAnsweredEither() throws IOException {
        try (RawClient raw = raw()) {
            raw.send("{\"method\":\"dev.larder.Store.Nothing\",\"oneway\":true}\0");
            raw.send("{\"method\":\"dev.larder.Store.Room\",\"parameters\":{},\"oneway\":true}\0");

            assertThat(raw.send(new Request.Room(2)).receive()).isEqualTo(Done.NOTHING);
        }
    }

    @Test
    void bytesBehindACallThatWaitsAreNotReadAndItsLeavingIsNoticed() throws Exception {
        CountDownLatch left = new CountDownLatch(1);
        CountDownLatch called = new CountDownLatch(1);
        handler.on((request, reply) -> {
            reply.onDisconnect(left::countDown);
            called.countDown();
        });

        try (SocketChannel channel = SocketChannel.open(Protocol.address(store.resolve("control.sock")))) {
            channel.write(ByteBuffer.wrap("{\"method\":\"dev.larder.Store.Room\",\"parameters\":{\"bytes\":1}}\0"
                    .getBytes(StandardCharsets.UTF_8)));
            assertThat(called.await(60, TimeUnit.SECONDS)).isTrue();
            channel.configureBlocking(false);
            byte[] more = new byte[4 << 20];
            Arrays.fill(more, (byte) '{');
            assertThat(channel.write(ByteBuffer.wrap(more))).isLessThan(1 << 20);
        }

        assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aProcessThatHasEndedIsNoticed() throws Exception {
        Process process = new ProcessBuilder("true").start();
        PeerProcess running = PeerProcess.of(process.pid());
        process.waitFor();
        PeerProcess late = PeerProcess.of(process.pid());

        assertThat(Objects.requireNonNull(running).hasEnded()).isTrue();
        assertThat(Objects.requireNonNull(late).hasEnded()).isTrue();
        running.close();
        late.close();
    }

    @Test
    void theInterfaceIsDescribed() throws IOException {
        try (RawClient raw = raw().send(new Request.GetInterfaceDescription(Protocol.INTERFACE))) {
            assertThat(raw.receive())
                    .isEqualTo(new Response.InterfaceDescription(Protocol.description(Protocol.INTERFACE)));
        }
    }

    @Test
    void aConnectionKeepsAValueUntilItIsClosed() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        handler.on((request, reply) -> {
            if (reply.session().attachment() == null) {
                reply.session().attach("first", true, closed::countDown);
            }
            reply.done(Done.of(0, 0, String.valueOf(reply.session().attachment())));
        });

        try (RawClient raw = raw().send(new Request.Room(1))) {
            assertThat(raw.receive()).isEqualTo(Done.of(0, 0, "first"));
            raw.send(new Request.Room(2));
            assertThat(raw.receive()).isEqualTo(Done.of(0, 0, "first"));
            assertThat(closed.getCount()).isEqualTo(1);
        }

        assertThat(closed.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void closingLetsReadyAnswersLeaveAndRefusesTheRest() throws Exception {
        CompletableFuture<Reply> pending = new CompletableFuture<>();
        handler.on((request, reply) -> {
            if (request instanceof Request.Stop) {
                reply.done(Done.of(7, 8, "bye"));
                server.close();
            } else {
                pending.complete(reply);
            }
        });
        CompletableFuture<LarderException> refused =
                CompletableFuture.supplyAsync(() -> failureOf(() -> client.verify("x", ProgressListener.NONE)));
        pending.get(60, TimeUnit.SECONDS);

        assertThat(client.stop(false, ProgressListener.NONE)).isEqualTo(Done.of(7, 8, "bye"));

        assertThat(refused.get(60, TimeUnit.SECONDS).code()).isEqualTo(ErrorCode.NO_DAEMON);
        assertThat(refused.join()).hasMessageContaining("stopping");
        server.close();
        assertThat(store.resolve("control.sock")).doesNotExist();
    }

    @Test
    void closingDoesNotWaitForAHandlerThatHangs() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        handler.on((request, reply) -> {
            hanging.countDown();
            awaitUninterruptibly(end);
        });
        try (RawClient raw = waiting()) {
            assertThat(hanging.await(60, TimeUnit.SECONDS)).isTrue();
            long start = System.nanoTime();
            server.close();

            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
            assertThat(store.resolve("control.sock")).doesNotExist();
            assertThat(errors.entries()).hasSize(1);
            assertThat(raw).isNotNull();
        } finally {
            end.countDown();
        }
    }

    @Test
    void aNewServerTakesTheSocketOfADeadOneAndKeepsItFromTheOld() throws IOException {
        server.stopAccepting();
        ControlSettings settings = ControlSettings.of(new StoreLayout(store), "next");
        Files.createFile(settings.socket());

        try (ControlServer next = ControlServer.start(settings, handler, counters, errors)) {
            server.close();

            assertThat(next).isNotNull();
            assertThat(client.info().version()).isEqualTo("next");
        }
        assertThat(settings.socket()).doesNotExist();
    }

    private RawClient waiting() throws IOException {
        return raw().send(new Request.Wait("x", Duration.ofMinutes(1)));
    }

    private RawClient raw() throws IOException {
        return new RawClient(store.resolve("control.sock"));
    }

    static ArrayRow row(int number) {
        return row("a/" + number);
    }

    private static ArrayRow row(String name) {
        return new ArrayRow(
                name,
                "<f4",
                List.of(60_000L, 784L),
                'C',
                1,
                1,
                "ab".repeat(32),
                ArrayRow.State.RESIDENT,
                false,
                0,
                "/p",
                4096,
                "00000000",
                "",
                ColumnPart.NONE);
    }

    private static LarderException failureOf(Runnable action) {
        return catchThrowableOfType(LarderException.class, action::run);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
