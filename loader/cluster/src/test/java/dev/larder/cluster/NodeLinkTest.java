package dev.larder.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.distributed.rendezvous.RunSecret;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Links whose other side hangs up, or takes its time. */
class NodeLinkTest {
    private static final Duration SILENCE = Duration.ofSeconds(10);
    private static final RunSecret SECRET = RunSecret.of("a secret of sixteen or more");

    private ServerSocket listener;
    private Socket near;
    private Socket far;

    @BeforeEach
    void connect() throws IOException {
        listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        near = new Socket(listener.getInetAddress(), listener.getLocalPort());
        far = listener.accept();
    }

    @AfterEach
    void close() throws IOException {
        near.close();
        far.close();
        listener.close();
    }

    private static void greet(OutputStream out) throws IOException {
        DataOutputStream data = new DataOutputStream(out);
        data.write("LARDRDZV".getBytes(StandardCharsets.US_ASCII));
        data.writeInt(NodeLink.VERSION);
        data.write(new byte[32]);
        data.flush();
    }

    @Test
    void aLeaderThatHangsUpInTheHandshakeIsNoStrangerAndIsCalledAgain() throws IOException {
        greet(far.getOutputStream());
        far.shutdownOutput();

        assertThatThrownBy(() -> NodeLink.toLeader(near, SECRET, SILENCE)).isInstanceOf(EOFException.class);
    }

    @Test
    void aNodeThatDiesWhileItProvesWhoItIsHasNoOtherSecret() throws IOException {
        greet(near.getOutputStream());
        near.getOutputStream().write(new byte[7]);
        near.shutdownOutput();

        assertThatThrownBy(() -> NodeLink.toNode(far, SECRET, SILENCE)).isInstanceOf(EOFException.class);
    }

    @Test
    void aMessageThatEndsHalfwayWasNotChanged() throws IOException {
        CompletableFuture<NodeLink> node = CompletableFuture.supplyAsync(() -> link(near));
        NodeLink leader = NodeLink.toNode(far, SECRET, SILENCE);
        assertThat(node.join().peer()).isEqualTo("127.0.0.1");
        near.getOutputStream().write(new byte[] {0, 0, 0, 9, 'h', 'a', 'l', 'f'});
        near.shutdownOutput();

        assertThatThrownBy(leader::receive).isInstanceOf(EOFException.class);
    }

    private static NodeLink link(Socket socket) {
        try {
            return NodeLink.toLeader(socket, SECRET, SILENCE);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void whoSaysAByteNowAndThenHoldsNoPlaceForLong() {
        Thread slow = new Thread(() -> {
            try {
                for (byte letter : "LARDRDZV".repeat(10).getBytes(StandardCharsets.US_ASCII)) {
                    near.getOutputStream().write(letter);
                    Thread.sleep(700);
                }
            } catch (IOException | InterruptedException e) {
                return; // it was told to go
            }
        });
        slow.start();
        long begin = System.nanoTime();

        assertThatThrownBy(() -> NodeLink.toNode(far, SECRET, SILENCE)).isInstanceOf(SocketTimeoutException.class);

        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(8));
        slow.interrupt();
    }
}
