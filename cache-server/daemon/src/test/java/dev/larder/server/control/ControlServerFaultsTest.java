package dev.larder.server.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.control.ShortFolder;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response;
import dev.larder.internal.protocol.Welcome;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class ControlServerFaultsTest {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofMillis(200);

    @TempDir(factory = ShortFolder.class)
    Path store;

    private final ScriptedHandler handler = new ScriptedHandler();
    private final Counters counters = Counters.unshared();
    private final ErrorLog errors = new ErrorLog(Clock.systemUTC());
    private @Nullable ControlServer server;

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void garbageIsAnsweredNotedAndHarmless() throws IOException {
        start(64, LONG, LONG);
        Random random = new Random(3);

        for (int round = 0; round < 200; round++) {
            byte[] garbage = new byte[4 + random.nextInt(200)];
            random.nextBytes(garbage);
            garbage[3] |= (byte) 0x80;
            try (RawClient raw = client().send(garbage)) {
                assertThat(raw.receive()).isInstanceOf(Problem.class);
                assertThat(raw.receive()).isNull();
            }
        }

        assertThat(counters.value(Counter.PROTOCOL_ERRORS)).isEqualTo(200);
        assertThat(errors.entries()).hasSize(1);
        assertStillServing();
    }

    @Test
    void aFrameBeyondTheLimitIsRefusedAtItsLength() throws IOException {
        start(64, LONG, LONG);

        try (RawClient raw = client().sendLength(Protocol.MAX_GREETING_LENGTH + 1)) {
            assertThat(problem(raw.receive()).message()).contains("limit=" + Protocol.MAX_GREETING_LENGTH);
            assertThat(raw.receive()).isNull();
        }
        try (RawClient raw = client().send(RawClient.hello())) {
            assertThat(raw.receive()).isInstanceOf(Welcome.class);
            raw.sendLength(Protocol.MAX_REQUEST_LENGTH + 1);
            assertThat(problem(raw.receive()).message())
                    .contains("length=" + (Protocol.MAX_REQUEST_LENGTH + 1))
                    .contains("limit=" + Protocol.MAX_REQUEST_LENGTH);
            assertThat(raw.receive()).isNull();
        }
        assertStillServing();
    }

    @Test
    void unfinishedRequestsTakeABoundedPartOfTheHeapTogether() throws Exception {
        start(256, LONG, LONG);
        long heapBytes = Runtime.getRuntime().maxMemory();
        int clients = (int) (heapBytes / 8 / Protocol.MAX_REQUEST_LENGTH) + 8;
        List<RawClient> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            RawClient raw = client().send(RawClient.hello());
            all.add(raw);
            assertThat(raw.receive()).isInstanceOf(Welcome.class);
            sendAllButTheLastByte(raw);
        }

        Awaitility.await().until(() -> counters.value(Counter.PROTOCOL_ERRORS) > 0);
        assertThat(counters.value(Counter.PROTOCOL_ERRORS)).isLessThan(clients);
        assertThat(errors.entries().get(0).message()).contains("too many long requests at a time");
        for (RawClient raw : all) {
            raw.close();
        }
        assertStillServing();
    }

    private static void sendAllButTheLastByte(RawClient raw) {
        try {
            raw.sendLength(Protocol.MAX_REQUEST_LENGTH).send(new byte[Protocol.MAX_REQUEST_LENGTH - 1]);
        } catch (IOException closed) {
            assertThat(closed).as("the daemon had no room for it").isNotNull();
        }
    }

    @Test
    void aMessageThatIsNoRequestIsRefused() throws IOException {
        start(64, LONG, LONG);
        byte[] unknownTemplate = {8, 0, 0, 0, 0, 0, 99, 0, 0x1a, 0x07, 0, 0};
        byte[] unknownSchema = {8, 0, 0, 0, 0, 0, 13, 0, 1, 1, 0, 0};

        for (byte[] message : List.of(unknownTemplate, unknownSchema)) {
            try (RawClient raw = client().send(message)) {
                assertThat(problem(raw.receive()).rawCode()).isEqualTo(ErrorCode.BAD_INPUT.number());
                assertThat(raw.receive()).isNull();
            }
        }
        assertStillServing();
    }

    @Test
    void anotherMajorIsRefusedNamingBothAndIsNoError() throws IOException {
        start(64, LONG, LONG);

        try (RawClient raw = client().send(new Request.Hello(7, 2, 1, "7.2"))) {
            Problem problem = problem(raw.receive());
            assertThat(problem.rawCode()).isEqualTo(ErrorCode.REFUSED.number());
            assertThat(problem.message()).contains("clientProtocol=7.2", "daemonProtocol=1." + Protocol.MINOR, "kill ");
            assertThat(raw.receive()).isNull();
        }
        assertThat(errors.entries()).isEmpty();
    }

    @Test
    void aLaterMinorIsServed() throws IOException {
        start(64, LONG, LONG);

        try (RawClient raw = client().send(new Request.Hello(Protocol.MAJOR, 99, 1, "later"), new Request.Status())) {
            assertThat(raw.receive()).isInstanceOf(Welcome.class);
            assertThat(raw.receive()).isEqualTo(Done.NOTHING);
            assertThat(raw.receive()).isNull();
        }
    }

    @Test
    void aRequestBeforeTheHandshakeIsRefused() throws IOException {
        start(64, LONG, LONG);

        try (RawClient raw = client().send(new Request.Status())) {
            assertThat(problem(raw.receive()).message()).contains("out of order");
            assertThat(raw.receive()).isNull();
        }
    }

    @Test
    void aSecondRequestEndsTheFirst() throws Exception {
        start(64, LONG, LONG);
        CountDownLatch left = new CountDownLatch(1);
        handler.on((request, reply) -> reply.onDisconnect(left::countDown));

        try (RawClient raw = client().send(RawClient.hello())) {
            assertThat(raw.receive()).isInstanceOf(Welcome.class);
            raw.send(new Request.Status(), new Request.Status());
            assertThat(problem(raw.receive()).message()).contains("out of order");
            assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void aHalfOpenConnectionIsClosedAfterTheHandshakeTime() throws IOException {
        start(64, SHORT, LONG);

        try (RawClient silent = client();
                RawClient partial = client().sendLength(20);
                RawClient greeted = client().send(RawClient.hello())) {
            assertThat(greeted.receive()).isInstanceOf(Welcome.class);
            assertThat(silent.receive()).isNull();
            assertThat(partial.receive()).isNull();
            assertThat(greeted.receive()).isNull();
        }
        assertThat(errors.entries()).isEmpty();
        assertStillServing();
    }

    @Test
    void aThousandIdleConnectionsHoldNobodyUp() throws IOException {
        start(1024, LONG, LONG);
        List<RawClient> idle = new ArrayList<>();
        try {
            for (int i = 0; i < 1000; i++) {
                idle.add(client());
            }
            await().until(() -> counters.value(Counter.CONNECTIONS) == 1000);

            for (int i = 0; i < 100; i++) {
                assertStillServing();
            }
        } finally {
            for (RawClient raw : idle) {
                raw.close();
            }
        }
        await().until(() -> counters.value(Counter.CONNECTIONS) == 0);
        assertThat(errors.entries()).isEmpty();
    }

    @Test
    void oneConnectionTooManyIsRefusedWithTheReason() throws IOException {
        start(2, LONG, LONG);

        try (RawClient first = client();
                RawClient second = client().send(RawClient.hello())) {
            assertThat(second.receive()).isInstanceOf(Welcome.class);
            assertThatThrownBy(() -> ControlClient.at(store).info())
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED))
                    .hasMessageContaining("too many connections");
            assertThat(first).isNotNull();
        }
        await().untilAsserted(this::assertStillServing);
    }

    @Test
    void aClientThatDoesNotReadIsDroppedAndHoldsNobodyUp() throws Exception {
        start(64, LONG, SHORT);
        CountDownLatch left = new CountDownLatch(1);
        handler.on((request, reply) -> {
            if (request instanceof Request.ListArrays) {
                reply.onDisconnect(left::countDown);
                reply.rows(Collections.nCopies(100_000, ControlServerTest.row(1)));
            } else {
                reply.done(Done.NOTHING);
            }
        });

        try (RawClient deaf = client().send(RawClient.hello(), new Request.ListArrays("", false))) {
            for (int i = 0; i < 20; i++) {
                assertStillServing();
            }
            assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(deaf.receive()).isInstanceOf(Welcome.class);
        }
        await().until(() -> counters.value(Counter.CONNECTIONS) == 0);
    }

    @Test
    void whoConnectsIsKnown() throws IOException {
        start(64, LONG, LONG);
        Path socket = store.resolve("other");
        try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listener.bind(Protocol.address(socket));
            try (RawClient raw = new RawClient(socket);
                    SocketChannel accepted = listener.accept()) {
                Peer self = PeerPolicy.of(store).admit(accepted);

                assertThat(self)
                        .isEqualTo(new Peer(
                                ProcessHandle.current().pid(),
                                Posix.system().userId(),
                                System.getProperty("user.name"),
                                true));
                assertThat(raw.send(new byte[0])).isNotNull();
            }
        }
    }

    private void start(int maxConnections, Duration handshake, Duration stall) {
        Path socket = new StoreLayout(store).socket();
        ControlSettings settings = new ControlSettings(
                socket, "test", maxConnections, handshake, Duration.ofMillis(100), stall, Duration.ofMillis(200));
        server = ControlServer.start(settings, handler, counters, errors);
    }

    private RawClient client() throws IOException {
        return new RawClient(store.resolve("control.sock"));
    }

    private void assertStillServing() {
        assertThat(ControlClient.at(store).evict("x")).isEqualTo(Done.NOTHING);
    }

    private static Problem problem(@Nullable Response response) {
        if (response instanceof Problem problem) {
            return problem;
        }
        throw new AssertionError("no problem: " + response);
    }
}
