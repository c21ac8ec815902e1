package dev.larder.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.distributed.rendezvous.RunSecret;
import dev.larder.launch.process.OutputLine;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
        near.getOutputStream().write("{\"code\":\"half".getBytes(StandardCharsets.UTF_8));
        near.shutdownOutput();

        assertThatThrownBy(leader::receive).isInstanceOf(EOFException.class);
    }

    @Test
    void linesComeByteForByteAndLongTextsWhole() throws IOException {
        CompletableFuture<NodeLink> node = CompletableFuture.supplyAsync(() -> link(near));
        NodeLink leader = NodeLink.toNode(far, SECRET, SILENCE);
        List<OutputLine> lines = List.of(
                new OutputLine(everyByte(), false, false),
                new OutputLine("\u001b[1m", true, true),
                new OutputLine("\0".repeat(64 << 10), false, true),
                new OutputLine("", true, false));
        String listing = "file\n".repeat(3_000_000);
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() ->
                send(node.join(), Message.Lines.of(7, lines), new Message.Listed(0, listing), new Message.Ping()));

        assertThat(leader.receive()).isInstanceOfSatisfying(Message.Lines.class, some -> {
            assertThat(some.rank()).isEqualTo(7);
            assertThat(some.outputLines()).isEqualTo(lines);
        });
        assertThat(leader.receive()).isEqualTo(new Message.Listed(0, listing));
        assertThat(leader.receive()).isEqualTo(new Message.Ping());
        sent.join();
    }

    private static String everyByte() {
        StringBuilder raw = new StringBuilder();
        for (char value = 0; value < 256; value++) {
            raw.append(value);
        }
        return raw.toString();
    }

    private static void send(NodeLink link, Message... messages) {
        try {
            for (Message message : messages) {
                link.send(message);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"code\":\"00112233445566778899aabbccddeeff\"}\0{\"ping\":{}}\0",
                "{\"code\":\"\"}\0{\"ping\":{}}\0",
                "{\"code\":1}\0",
                "{\"ping\":{}}\0",
                "\0\0\0\1 ",
            })
    void whatHasNoCodeOfTheSenderIsAStrangers(String said) throws IOException {
        CompletableFuture<NodeLink> node = CompletableFuture.supplyAsync(() -> link(near));
        NodeLink leader = NodeLink.toNode(far, SECRET, SILENCE);
        assertThat(node.join().peer()).isEqualTo("127.0.0.1");
        near.getOutputStream().write(said.getBytes(StandardCharsets.UTF_8));

        assertThatThrownBy(leader::receive).isInstanceOf(NodeLink.StrangerException.class);
    }

    @Test
    void aMessageWithAFieldOfALaterReleaseIsUnderstood() throws IOException {
        byte[] later = "{\"failing\":{\"round\":1,\"why\":{\"a\":[1.5]},\"rank\":3}}".getBytes(StandardCharsets.UTF_8);

        assertThat(Message.decode(ByteBuffer.wrap(later))).isEqualTo(new Message.Failing(1, 3));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"sing\":{}}",
                "{}",
                "[]",
                "{\"stop\":{}}",
                "{\"stop\":{\"kind\":\"sing\"}}",
                "{\"listed\":{\"exitCode\":0}}"
            })
    void aMessageOfAnotherKindIsNone(String text) {
        ByteBuffer message = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));

        assertThatThrownBy(() -> Message.decode(message))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("not a message: ");
    }

    @Test
    void aNodeOfAnotherReleaseIsRefusedByName() throws IOException {
        DataOutputStream data = new DataOutputStream(near.getOutputStream());
        data.write("LARDRDZV".getBytes(StandardCharsets.US_ASCII));
        data.writeInt(NodeLink.VERSION - 1);
        data.write(new byte[32]);

        assertThatThrownBy(() -> NodeLink.toNode(far, SECRET, SILENCE))
                .isInstanceOf(NodeLink.StrangerException.class)
                .hasMessage("it is of another release of Larder: its version of the protocol is 4, and 5 here");
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
