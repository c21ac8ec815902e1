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
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Welcome;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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
    void aHandshakeTellsWhoTheDaemonIs() {
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
            reply.rows(rows.subList(0, 5));
            reply.rows(rows.subList(5, rows.size()));
            reply.done(Done.NOTHING);
        });

        assertThat(client.list("a", false)).isEqualTo(rows);
        assertThat(counters.value(Counter.REQUESTS)).isEqualTo(1);
    }

    @Test
    void totalsArrive() {
        DaemonStatus status = new DaemonStatus(
                store.toString(), 1, "v", 2, 3, 4, 5, 6, 7, 8, "never", 10, 11, Duration.ofSeconds(9), "");
        handler.on((request, reply) -> {
            reply.status(status);
            reply.done(Done.NOTHING);
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
        handler.on((request, reply) -> {
            reply.rows(List.of(row("x".repeat(2000))));
            reply.done(Done.NOTHING);
        });

        LarderException failure = failureOf(() -> client.list("", false));

        assertThat(failure).hasMessageContaining("field=name").hasMessageContaining("limit=1024");
        assertThat(errors.entries()).hasSize(1);
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
        RawClient raw = new RawClient(store.resolve("control.sock")).send(RawClient.hello());
        assertThat(raw.receive()).isInstanceOf(Welcome.class);
        return raw.send(new Request.Wait("x", Duration.ofMinutes(1)));
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
