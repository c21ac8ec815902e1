package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.Request;
import dev.larder.server.metrics.Counter;
import dev.larder.testing.ProtocolSamples;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What lies on a file system that does not answer holds up only those who ask for it. */
@Timeout(240)
class HungMountTest {
    /** How many turns one process has at a time at sources. */
    private static final int SHARE = 8;

    private static final int SHARE_OF_LOADS = 64;
    private static final Duration LONGEST = Duration.ofMinutes(1);

    @TempDir
    Path sources;

    private final List<SocketChannel> asking = new ArrayList<>();
    private HungMount hung;
    private ServedStore served;
    private Daemon daemon;

    @BeforeEach
    void start() {
        hung = HungMount.mount();
        served = ServedStore.create();
        daemon = served.start();
        served.load("resident", ServedStore.writeInts(sources.resolve("x.npy"), 1, 2, 3));
    }

    @AfterEach
    void stop() throws IOException {
        for (SocketChannel channel : asking) {
            channel.close();
        }
        if (hung == null) { // the test is skipped
            return;
        }
        hung.close();
        served.close();
        // Threads that hung end a moment after their mount; the next test counts its own threads.
        await().atMost(LONGEST).until(() -> threads("larder-source") + threads("larder-load") == 0);
    }

    /** Asks on a connection of its own, and does not wait for the answer. */
    private void ask(Request request) throws IOException {
        SocketChannel channel =
                SocketChannel.open(Protocol.address(served.layout().socket()));
        asking.add(channel);
        channel.write(ByteBuffer.wrap(ProtocolSamples.encode(request)));
    }

    private static LoadRequest register(String name, Path path) {
        return ServedStore.request(name, path).withRegisterOnly(true);
    }

    private long threads(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(name))
                .count();
    }

    private void assertServesWhatIsResident() {
        assertThat(served.control().status().arrays()).isEqualTo(1);
        assertThat(served.control().list("", true)).hasSize(1);
        assertThat(served.control().info("resident")).hasSize(1);
        assertThat(served.control().await("resident", LONGEST, progress -> {}).files())
                .isEqualTo(1);
        assertThat(served.control().verify("", progress -> {}).files()).isEqualTo(1);
        assertThat(served.control().errors()).isEmpty();
    }

    @Test
    void registeringWhatDoesNotAnswerHoldsNobodyUp() throws IOException {
        for (int i = 0; i < 100; i++) {
            ask(register("h" + i, hung.path("h")));
        }
        await().atMost(LONGEST).until(() -> threads("larder-source") > 0);

        assertServesWhatIsResident();
        assertThat(threads("larder-source")).isLessThanOrEqualTo(16);
    }

    @Test
    void whatWasGivenUpBeforeItsTurnIsNeverDone() throws IOException {
        for (int i = 0; i < SHARE; i++) {
            ask(register("h" + i, hung.path("h")));
        }
        await().atMost(LONGEST).until(() -> threads("larder-source") == SHARE);
        for (int i = 0; i < SHARE; i++) {
            ask(register("g" + i, sources.resolve("x.npy")));
        }
        await().atMost(LONGEST).until(() -> daemon.overview().count(Counter.REQUESTS) == 1 + 2 * SHARE);
        for (SocketChannel channel : asking.subList(SHARE, 2 * SHARE)) {
            channel.close();
        }
        await().atMost(LONGEST).until(() -> daemon.overview().count(Counter.CONNECTIONS) == SHARE);

        hung.wake();

        served.control().load(register("other", sources.resolve("x.npy")), progress -> {});
        assertThat(served.control().list("", true)).extracting(ArrayRow::name).containsExactly("other", "resident/x");
    }

    @Test
    void aRequestThatHangsInTheStoreItselfIsListedWithItsStack() throws IOException {
        try (HungMount store = HungMount.over(served.layout().root().resolve("data/resident"))) {
            ask(new Request.Status());

            await().atMost(LONGEST)
                    .untilAsserted(() -> assertThat(served.control().errors())
                            .filteredOn(ErrorRow::isLate)
                            .singleElement()
                            .satisfies(row -> assertThat(row.message() + row.trace())
                                    .contains(
                                            "request=Status",
                                            "pid=" + ProcessHandle.current().pid(),
                                            "Overview.status")));
            store.wake();
        }
    }

    @Test
    void loadingWhatDoesNotAnswerHoldsNobodyUp() throws IOException {
        for (int i = 0; i < 20; i++) {
            ask(ServedStore.request("h" + i, hung.path("h" + i)));
        }
        await().atMost(LONGEST).until(() -> threads("larder-load") > 0);

        assertServesWhatIsResident();
    }

    @Test
    void registrationsThatHangLeaveTheirTurnsWithTheirClients() throws IOException {
        for (int i = 0; i < SHARE; i++) {
            ask(register("h" + i, hung.path("h")));
        }
        await().atMost(LONGEST).until(() -> threads("larder-source") == SHARE);
        for (SocketChannel channel : asking) {
            channel.close();
        }

        served.control().load(register("other", sources.resolve("x.npy")), progress -> {});

        assertThat(served.control().errors())
                .filteredOn(ErrorRow::isLate)
                .isNotEmpty()
                .allSatisfy(row -> assertThat(row.message()).contains("request=Register of a client that has left"));
        hung.wake();
        await().atMost(LONGEST).until(() -> served.control().errors().stream().noneMatch(ErrorRow::isLate));
    }

    @Test
    void loadsThatHangLeaveTheirTurnsWithTheirClients() throws IOException {
        for (int i = 0; i < SHARE_OF_LOADS; i++) {
            ask(ServedStore.request("h" + i, hung.path("h")));
        }
        await().atMost(LONGEST).until(() -> threads("larder-load") == SHARE_OF_LOADS);
        for (SocketChannel channel : asking) {
            channel.close();
        }

        served.load("other", sources.resolve("x.npy"));

        assertThat(served.control().errors())
                .filteredOn(ErrorRow::isLate)
                .isNotEmpty()
                .allSatisfy(row -> assertThat(row.message()).contains("request=Load of a client that has left"));
    }

    @Test
    void aLoadThatWaitsForItsTurnEndsWithItsClient() throws IOException {
        for (int i = 0; i < SHARE_OF_LOADS; i++) {
            ask(ServedStore.request("h" + i, hung.path("h")));
        }
        await().atMost(LONGEST).until(() -> threads("larder-load") == SHARE_OF_LOADS);
        ask(ServedStore.request("waits", sources.resolve("x.npy")));
        await().atMost(LONGEST).until(() -> served.control().loads().size() == SHARE_OF_LOADS + 1);

        asking.get(SHARE_OF_LOADS).close();

        await().atMost(LONGEST).until(() -> served.control().loads().size() == SHARE_OF_LOADS);
        assertServesWhatIsResident();
    }
}
