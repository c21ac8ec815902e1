package dev.larder.distributed.internal.meeting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.distributed.internal.meeting.NodeLinks.Event;
import dev.larder.distributed.internal.meeting.NodeLinks.News;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Leaders of nodes that meet by TCP, with and without the secret, and what they tell each other then. */
class NodeMeetingTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final RunSecret SECRET = RunSecret.of("0123456789abcdef0123456789abcdef");

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<NodeLinks> opened = new ArrayList<>();

    @AfterEach
    void close() {
        opened.forEach(NodeLinks::close);
        threads.shutdownNow();
    }

    private static RankSeat seat(int node, int nodes, RunSecret secret) {
        return RankSeat.ofNode(node, nodes, "run", secret, "card of " + node);
    }

    private Future<NodeLinks> goTo(int port, RankSeat seat) {
        return threads.submit(() -> NodeMeeting.meet(new Endpoint("127.0.0.1", port), seat, Duration.ofSeconds(20)));
    }

    private NodeLinks links(Future<NodeLinks> future) throws Exception {
        NodeLinks links = future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        opened.add(links);
        return links;
    }

    private static LarderException failure(Future<NodeLinks> future) throws Exception {
        try {
            throw new AssertionError("met: " + future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            return (LarderException) Objects.requireNonNull(e.getCause());
        }
    }

    /** Three nodes that have met. */
    private List<NodeLinks> three() throws Exception {
        try (NodeMeeting host = NodeMeeting.listen("127.0.0.1", SECRET)) {
            Future<NodeLinks> one = goTo(host.port(), seat(1, 3, SECRET));
            Future<NodeLinks> two = goTo(host.port(), seat(2, 3, SECRET));
            NodeLinks zero = host.await(seat(0, 3, SECRET), PATIENCE);
            opened.add(zero);
            return List.of(zero, links(one), links(two));
        }
    }

    private static News await(NodeLinks links) {
        return Objects.requireNonNull(links.await(PATIENCE.toMillis()));
    }

    @Test
    void allNodesGetTheCardsOfAllInTheirOrder() throws Exception {
        assertThat(three())
                .allSatisfy(links -> assertThat(links.cards()).containsExactly("card of 0", "card of 1", "card of 2"));
    }

    @Test
    void whatANodeTellsArrivesAndItsEndIsSeenAtOnce() throws Exception {
        List<NodeLinks> nodes = three();

        nodes.get(1).tellBroken(ErrorCode.DEADLINE.number(), "rank 3 is missing");
        nodes.get(0).tellLeft();
        assertThat(await(nodes.get(0)))
                .isEqualTo(new News(1, Event.BROKEN, ErrorCode.DEADLINE.number(), "rank 3 is missing"));
        assertThat(await(nodes.get(2)).event()).isEqualTo(Event.LEFT);
        assertThat(nodes.get(2).await(1)).isNull();
        nodes.get(2).close();

        assertThat(await(nodes.get(0)))
                .isEqualTo(new News(2, Event.LOST, ErrorCode.UNEXPECTED.number(), "its process has ended"));
    }

    @Test
    void whoDoesNotKnowTheSecretIsRefusedOnBothSides() throws Exception {
        try (NodeMeeting host = NodeMeeting.listen("127.0.0.1", SECRET)) {
            Future<NodeLinks> zero = threads.submit(() -> host.await(seat(0, 2, SECRET), PATIENCE));
            assertThat(failure(goTo(host.port(), seat(1, 2, RunSecret.NONE))))
                    .hasMessageContaining("not rank 0 of this run: address=127.0.0.1:" + host.port())
                    .hasMessageContaining("reason=it has another secret")
                    .hasMessageContaining("LARDER_RDZV_SECRET");
            Future<NodeLinks> right = goTo(host.port(), seat(1, 2, SECRET));
            assertThat(links(right).cards()).isEqualTo(links(zero).cards());
        }
    }

    @Test
    void aMeetingThatOthersReachNeedsASecret() {
        Endpoint place = new Endpoint("192.0.2.1", 29500);

        assertThatThrownBy(() -> NodeMeeting.meet(place, seat(1, 2, RunSecret.NONE), PATIENCE))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("the run has no secret");
        assertThatThrownBy(() -> NodeMeeting.meet(place, seat(0, 2, SECRET), PATIENCE))
                .hasMessageContaining("node 0 does not have the address");
    }

    /** Listens between two nodes, and keeps all that goes by. */
    @Test
    void theSecretNeverGoesOverTheWire() throws Exception {
        ByteArrayOutputStream seen = new ByteArrayOutputStream();
        try (NodeMeeting host = NodeMeeting.listen("127.0.0.1", SECRET);
                ServerSocket between = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> relay =
                    CompletableFuture.runAsync(() -> relay(between, host.port(), seen), threads);
            Future<NodeLinks> guest = goTo(between.getLocalPort(), seat(1, 2, SECRET));
            host.await(seat(0, 2, SECRET), PATIENCE).close();
            links(guest).close();
            relay.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }

        assertThat(seen.toString(StandardCharsets.ISO_8859_1))
                .contains("LARDRNKS", "card of 1", "card of 0")
                .doesNotContain("0123456789abcdef0123456789abcdef");
    }

    private void relay(ServerSocket between, int port, ByteArrayOutputStream seen) {
        try (Socket guest = between.accept();
                Socket host = new Socket(InetAddress.getLoopbackAddress(), port)) {
            CompletableFuture<Void> back = CompletableFuture.runAsync(() -> copy(host, guest, seen), threads);
            copy(guest, host, seen);
            back.join();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void copy(Socket from, Socket to, ByteArrayOutputStream seen) {
        byte[] buffer = new byte[4096];
        try {
            for (int n = from.getInputStream().read(buffer);
                    n >= 0;
                    n = from.getInputStream().read(buffer)) {
                synchronized (seen) {
                    seen.write(buffer, 0, n);
                }
                to.getOutputStream().write(buffer, 0, n);
            }
            to.shutdownOutput();
        } catch (IOException closed) {
            return; // both ends have closed
        }
    }
}
