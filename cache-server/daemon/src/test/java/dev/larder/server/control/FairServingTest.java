package dev.larder.server.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.internal.control.ControlClient;
import dev.larder.internal.control.ShortFolder;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A queue behind real sockets: what is asked for and given up costs the others nothing. */
@Timeout(240)
class FairServingTest {
    private static final int MANY = 60;
    private static final Duration LONGEST = Duration.ofMinutes(1);

    @TempDir(factory = ShortFolder.class)
    Path store;

    private final ScriptedHandler handler = new ScriptedHandler();
    private final Counters counters = Counters.unshared();
    private final FairQueue queue = new FairQueue("test-fair", 2, 1_024);
    private final CountDownLatch open = new CountDownLatch(1);
    private final Queue<String> executed = new ConcurrentLinkedQueue<>();
    private final List<RawClient> flood = new ArrayList<>();
    private ControlServer server;

    @BeforeEach
    void start() {
        ControlSettings settings = ControlSettings.of(new StoreLayout(store), "test");
        server = ControlServer.start(settings, handler, counters, new ErrorLog(Clock.systemUTC()));
        handler.on((request, reply) -> {
            if (request instanceof Request.ListArrays list) {
                Runnable work = () -> {
                    executed.add(list.prefix());
                    awaitOpen();
                    reply.answer(new Response.ArrayRows(List.of()));
                };
                reply.onDisconnect(queue.submit(peerOf(list, reply), "List", work)::withdraw);
            } else {
                reply.done(Done.NOTHING);
            }
        });
    }

    @AfterEach
    void stop() throws IOException {
        open.countDown();
        for (RawClient client : flood) {
            client.close();
        }
        queue.close();
        server.close();
    }

    /** As if the process were the one that the prefix names: all of them are this one here. */
    private static Peer peerOf(Request.ListArrays list, Reply reply) {
        long pid = list.prefix().startsWith("other") ? 1 : 2;
        return new Peer(pid, reply.peer().uid(), reply.peer().user(), true);
    }

    private void awaitOpen() {
        try {
            open.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void flood() throws IOException {
        for (int i = 0; i < MANY; i++) {
            flood.add(new RawClient(store.resolve("control.sock")).send(new Request.ListArrays("flood" + i, false)));
        }
        await().atMost(LONGEST).until(() -> counters.value(Counter.REQUESTS) == MANY && !executed.isEmpty());
    }

    @Test
    void requestsOfClientsThatHaveLeftAreNeverExecuted() throws IOException {
        flood();
        for (RawClient client : flood) {
            client.close();
        }
        await().atMost(LONGEST).until(() -> counters.value(Counter.CONNECTIONS) == 0);

        open.countDown();
        ControlClient.at(store).list("after", false);

        assertThat(executed).hasSize(2).contains("after");
    }

    @Test
    void anotherProcessIsServedWhileAFloodWaits() throws IOException {
        flood();

        flood.add(new RawClient(store.resolve("control.sock")).send(new Request.ListArrays("other", false)));

        await().atMost(LONGEST)
                .untilAsserted(() -> assertThat(executed).hasSize(2).contains("other"));
    }
}
