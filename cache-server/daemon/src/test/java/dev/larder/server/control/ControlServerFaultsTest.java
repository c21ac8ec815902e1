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
import dev.larder.message.Messages;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import dev.larder.testing.ProtocolSamples;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
            byte[] garbage = new byte[1 + random.nextInt(200)];
            random.nextBytes(garbage);
            garbage[0] |= (byte) 0x80;
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
    void aMessageWithoutAnEndIsRefusedAtTheLimit() throws IOException {
        start(64, LONG, LONG);
        byte[] endless = ("{\"" + "x".repeat(Messages.MAX_BYTES)).getBytes(StandardCharsets.UTF_8);

        try (RawClient raw = client()) {
            sendAsMuchAsIsTaken(raw, endless);
            assertThat(problem(raw.receive()).values().get("reason")).contains("longer than " + Messages.MAX_BYTES);
            assertThat(raw.receive()).isNull();
        }
        assertStillServing();
    }

    private static void sendAsMuchAsIsTaken(RawClient raw, byte[] bytes) {
        try {
            raw.send(bytes);
        } catch (IOException closed) {
            assertThat(closed).as("the daemon had no room for it").isNotNull();
        }
    }

    @Test
    void unfinishedRequestsTakeABoundedPartOfTheHeapTogether() throws Exception {
        start(256, LONG, LONG);
        long heapBytes = Runtime.getRuntime().maxMemory();
        int clients = (int) (heapBytes / 8 / Messages.MAX_BYTES) + 8;
        byte[] almost = ("{\"" + "x".repeat(Messages.MAX_BYTES - 10)).getBytes(StandardCharsets.UTF_8);
        List<RawClient> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            RawClient raw = client();
            all.add(raw);
            sendAsMuchAsIsTaken(raw, almost);
        }

        Awaitility.await().until(() -> counters.value(Counter.PROTOCOL_ERRORS) > 0);
        assertThat(counters.value(Counter.PROTOCOL_ERRORS)).isLessThan(clients);
        assertThat(errors.entries().get(0).message()).contains("too many long requests at a time");
        for (RawClient raw : all) {
            raw.close();
        }
        assertStillServing();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"method\":\"dev.larder.Store.Nothing\"} | org.varlink.service.MethodNotFound",
                "{\"method\":\"com.example.Store.Status\"} | org.varlink.service.InterfaceNotFound",
                "{\"method\":\"Status\"} | org.varlink.service.InterfaceNotFound",
                "{\"method\":\"org.varlink.service.GetInterfaceDescription\",\"parameters\":{\"interface\":\"x.y\"}} | org.varlink.service.InterfaceNotFound",
                "{\"method\":\"dev.larder.Store.Info\",\"parameters\":{}} | org.varlink.service.InvalidParameter",
                "{\"method\":\"dev.larder.Store.Info\"} | org.varlink.service.InvalidParameter",
                "{\"method\":\"dev.larder.Store.Status\",\"parameters\":{\"shard\":1}} | org.varlink.service.InvalidParameter",
                "{\"method\":\"dev.larder.Store.Status\",\"upgrade\":true} | org.varlink.service.InvalidParameter",
            })
    void aCallThatIsNoneIsRefusedAndTheConnectionGoesOn(String call, String error) throws IOException {
        start(64, LONG, LONG);

        try (RawClient raw = client().send(call + "\0")) {
            assertThat(problem(raw.receive()).error()).isEqualTo(error);
            assertThat(raw.send(new Request.Status()).receive()).isEqualTo(Done.NOTHING);
        }
        assertThat(errors.entries()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "[] | parameters",
                "{\"name\":\"\\ud800\"} | parameters",
                "{\"name\":[]} | name",
                "{\"name\":\"a\",\"timeoutMs\":1,\"bytes\":-1} | bytes"
            })
    void aRefusalNamesTheParameter(String parameters, String named) throws IOException {
        start(64, LONG, LONG);

        try (RawClient raw = client()) {
            raw.send("{\"method\":\"dev.larder.Store.Create\",\"parameters\":" + parameters + "}\0");
            assertThat(problem(raw.receive()).values()).containsEntry("parameter", named);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"method\":\"dev.larder.Store.Status\",\"colour\":1}\0",
                "{\"method\":1}\0",
                "{}\0",
                "{\0",
                "{\"a\":[[[\0"
            })
    void aMessageThatIsNoCallEndsTheConnection(String message) throws IOException {
        start(64, LONG, LONG);

        try (RawClient raw = client().send(message)) {
            assertThat(problem(raw.receive()).error()).isEqualTo("dev.larder.Store.BadInput");
            assertThat(raw.receive()).isNull();
        }
        assertStillServing();
    }

    @Test
    void aNameTooLongIsRefused() throws IOException {
        start(64, LONG, LONG);

        try (RawClient raw = client().send(new Request.Info("x".repeat(1025)))) {
            assertThat(problem(raw.receive()).exception()).hasMessageContaining("longer than 1024 characters");
        }
    }

    @Test
    void aClientOfTheFormerProtocolIsRefusedInItsOwnWords() throws IOException {
        start(64, LONG, LONG);
        byte[] hello = ByteBuffer.allocate(4 + 8 + 12 + 3)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(8 + 12 + 3)
                .putShort((short) 12) // length of the block
                .putShort((short) 1) // Hello
                .putShort((short) 1818)
                .putShort((short) 3)
                .array();
        ByteBuffer answer = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);

        try (SocketChannel channel = SocketChannel.open(Protocol.address(store.resolve("control.sock")))) {
            channel.write(ByteBuffer.wrap(hello));
            while (channel.read(answer) >= 0) {
                assertThat(answer.hasRemaining()).isTrue();
            }
        }

        assertThat(answer.getInt(0)).isEqualTo(answer.position() - 4);
        assertThat(answer.getInt(12)).isEqualTo(ErrorCode.REFUSED.number());
        assertThat(new String(answer.array(), 18, answer.getShort(16), StandardCharsets.UTF_8))
                .startsWith("the daemon uses another protocol: daemonProtocol=4 daemonVersion=test; ");
    }

    @Test
    void aConnectionWithoutAWholeCallIsClosedInTime() throws IOException {
        start(64, SHORT, LONG);

        try (RawClient silent = client();
                RawClient partial = client().send("{\"method\"");
                RawClient second = client().send(new Request.Status())) {
            assertThat(second.receive()).isEqualTo(Done.NOTHING);
            second.send("{");
            assertThat(silent.receive()).isNull();
            assertThat(partial.receive()).isNull();
            assertThat(second.receive()).isNull();
        }
        assertThat(errors.entries()).isEmpty();
        assertStillServing();
    }

    @Test
    void aConnectionThatCallsNoMoreIsClosedUnlessItMayBeIdle() throws IOException {
        start(64, LONG, SHORT, LONG);
        handler.on((request, reply) -> {
            if (request instanceof Request.Room room) {
                reply.session().attach("kept", room.bytes() == 1, () -> {});
            }
            reply.done(Done.NOTHING);
        });

        try (RawClient plain = client().send(new Request.Status());
                RawClient keeping = client().send(new Request.Room(2));
                RawClient idle = client().send(new Request.Room(1))) {
            for (RawClient each : List.of(plain, keeping, idle)) {
                assertThat(each.receive()).isEqualTo(Done.NOTHING);
            }
            assertThat(plain.receive()).isNull();
            assertThat(keeping.receive()).isNull();
            assertThat(idle.send(new Request.Status()).receive()).isEqualTo(Done.NOTHING);
        }
        assertThat(counters.value(Counter.PROTOCOL_ERRORS)).isZero();
    }

    @Test
    void bytesThatComeOneAtATimeAreACall() throws IOException {
        start(64, LONG, LONG);

        try (RawClient raw = client()) {
            for (byte one : ProtocolSamples.encode(new Request.Status())) {
                raw.send(new byte[] {one});
            }
            assertThat(raw.receive()).isEqualTo(Done.NOTHING);
        }
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
                RawClient second = client().send(new Request.Status())) {
            assertThat(second.receive()).isEqualTo(Done.NOTHING);
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
                reply.onSent(left::countDown);
                reply.answer(new Response.ArrayRows(Collections.nCopies(100_000, ControlServerTest.row(1))));
            } else {
                reply.done(Done.NOTHING);
            }
        });

        try (RawClient deaf = client().send(new Request.ListArrays("", false))) {
            for (int i = 0; i < 20; i++) {
                assertStillServing();
            }
            assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(deaf.receive()).isInstanceOf(Response.ArrayRows.class);
        }
        await().until(() -> counters.value(Counter.CONNECTIONS) == 0);
    }

    @Test
    void aClientThatReadsAListSlowlyIsDroppedToo() throws Exception {
        start(64, LONG, Duration.ofSeconds(2));
        int all = 1_000_000;
        CountDownLatch left = new CountDownLatch(1);
        handler.on((request, reply) -> {
            reply.onSent(left::countDown);
            reply.answer(new Response.ArrayRows(Collections.nCopies(all, ControlServerTest.row(1))));
        });

        int rows = 0;
        try (RawClient slow = client().send(new Request.ListArrays("", false))) {
            while (slow.receive() instanceof Response.ArrayRows some) { // each message is some progress
                rows += some.arrays().size();
                left.await(10, TimeUnit.MILLISECONDS);
            }
        }
        assertThat(rows).isBetween(1, all - 1);
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

    private void start(int maxConnections, Duration callTimeout, Duration stall) {
        start(maxConnections, callTimeout, LONG, stall);
    }

    private void start(int maxConnections, Duration callTimeout, Duration idle, Duration stall) {
        Path socket = new StoreLayout(store).socket();
        ControlSettings settings = new ControlSettings(
                socket,
                "test",
                maxConnections,
                callTimeout,
                idle,
                Duration.ofMillis(100),
                stall,
                Duration.ofMillis(200));
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
