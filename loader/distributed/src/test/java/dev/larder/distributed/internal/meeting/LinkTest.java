package dev.larder.distributed.internal.meeting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.distributed.internal.meeting.Link.Protocol;
import dev.larder.distributed.internal.meeting.Link.StrangerException;
import dev.larder.internal.time.Deadline;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Links whose other side hangs up, does not know the secret, or takes its time. */
@Tag("races")
class LinkTest {
    private static final RunSecret SECRET = RunSecret.of("a secret of sixteen or more");
    private static final Protocol<Said> PROTOCOL = new Protocol<>("LARDTEST", 5, Said.class, 64 << 20, 1000);

    private ServerSocket listener;
    private Socket near;
    private Socket far;

    /** What the sides of a test say. */
    sealed interface Said {
        record Ping() implements Said {}

        record Text(String text) implements Said {}
    }

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

    private static Link<Said> toHost(Socket socket) throws IOException {
        return Link.toHost(socket, PROTOCOL, SECRET, Deadline.none());
    }

    private Link<Said> toGuest() throws IOException {
        return Link.toGuest(far, PROTOCOL, SECRET);
    }

    private CompletableFuture<Link<Said>> guest() {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return toHost(near);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static void greet(OutputStream out, int version) throws IOException {
        DataOutputStream data = new DataOutputStream(out);
        data.write("LARDTEST".getBytes(StandardCharsets.US_ASCII));
        data.writeInt(version);
        data.write(new byte[32]);
        data.flush();
    }

    @Test
    void aHostThatHangsUpInTheHandshakeIsNoStrangerAndIsCalledAgain() throws IOException {
        greet(far.getOutputStream(), 5);
        far.shutdownOutput();

        assertThatThrownBy(() -> toHost(near)).isInstanceOf(EOFException.class);
    }

    @Test
    void aGuestThatDiesWhileItProvesWhoItIsHasNoOtherSecret() throws IOException {
        greet(near.getOutputStream(), 5);
        near.getOutputStream().write(new byte[7]);
        near.shutdownOutput();

        assertThatThrownBy(this::toGuest).isInstanceOf(EOFException.class);
    }

    @Test
    void aHostThatDoesNotProveThatItKnowsTheSecretIsAStranger() throws IOException {
        greet(far.getOutputStream(), 5);
        far.getOutputStream().write(1);
        far.getOutputStream().write(new byte[32]);

        assertThatThrownBy(() -> toHost(near))
                .isInstanceOf(StrangerException.class)
                .hasMessage("it has another secret");
    }

    @Test
    void aGuestWithAnotherSecretIsRefusedAndLearnsIt() {
        CompletableFuture<Link<Said>> guest = guest();

        assertThatThrownBy(() -> Link.toGuest(far, PROTOCOL, RunSecret.NONE)).isInstanceOf(StrangerException.class);
        assertThatThrownBy(guest::join).hasRootCauseMessage("it has another secret");
    }

    @Test
    void aMessageThatEndsHalfwayWasNotChanged() throws IOException {
        CompletableFuture<Link<Said>> guest = guest();
        Link<Said> host = toGuest();
        assertThat(guest.join().peer()).isEqualTo("127.0.0.1");
        near.getOutputStream().write("{\"code\":\"half".getBytes(StandardCharsets.UTF_8));
        near.shutdownOutput();

        assertThatThrownBy(host::receive).isInstanceOf(EOFException.class);
    }

    @Test
    void longTextsComeWholeAndInTheirOrder() throws IOException {
        CompletableFuture<Link<Said>> guest = guest();
        Link<Said> host = toGuest();
        host.allow(Duration.ofMinutes(1), Deadline.none());
        Said longest = new Said.Text("file\n".repeat(3_000_000));
        CompletableFuture<Void> sent =
                CompletableFuture.runAsync(() -> send(guest.join(), longest, new Said.Ping(), longest));

        assertThat(host.receive()).isEqualTo(longest);
        assertThat(host.receive()).isEqualTo(new Said.Ping());
        assertThat(host.receive()).isEqualTo(longest);
        sent.join();
    }

    private static void send(Link<Said> link, Said... messages) {
        try {
            for (Said message : messages) {
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
        CompletableFuture<Link<Said>> guest = guest();
        Link<Said> host = toGuest();
        assertThat(guest.join().peer()).isEqualTo("127.0.0.1");
        near.getOutputStream().write(said.getBytes(StandardCharsets.UTF_8));

        assertThatThrownBy(host::receive).isInstanceOf(StrangerException.class);
    }

    @Test
    void aMessageThatIsTooLongIsRefusedBeforeItHasAllArrived() throws IOException {
        CompletableFuture<Link<Said>> guest = guest();
        toGuest();
        far.getOutputStream().write(("{" + " ".repeat(1000)).getBytes(StandardCharsets.UTF_8));

        assertThatThrownBy(() -> guest.join().receive())
                .isInstanceOf(StrangerException.class)
                .hasMessageContaining("longer than 1000 bytes");
    }

    @Test
    void anotherReleaseIsNamedOnBothSides() throws IOException {
        greet(near.getOutputStream(), 4);

        assertThatThrownBy(this::toGuest)
                .isInstanceOf(StrangerException.class)
                .hasMessage("it is of another release of Larder: its version of the protocol is 4, and 5 here");
        byte[] answer = near.getInputStream().readNBytes(12);
        assertThat(new String(answer, 0, 8, StandardCharsets.US_ASCII)).isEqualTo("LARDTEST");
        assertThat(answer).endsWith(0, 0, 0, 5);
    }

    @Test
    void anotherProgramGetsNoAnswer() throws IOException {
        near.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));

        assertThatThrownBy(this::toGuest).isInstanceOf(StrangerException.class).hasMessage("it is another program");
        assertThat(near.getInputStream().available()).isZero();
    }

    @Test
    void whoSaysAByteNowAndThenHoldsNoPlaceForLong() {
        Thread slow = new Thread(() -> {
            try {
                for (byte letter : "LARDTEST".repeat(10).getBytes(StandardCharsets.US_ASCII)) {
                    near.getOutputStream().write(letter);
                    Thread.sleep(700);
                }
            } catch (IOException | InterruptedException e) {
                return; // it was told to go
            }
        });
        slow.start();
        long begin = System.nanoTime();

        assertThatThrownBy(this::toGuest).isInstanceOf(SocketTimeoutException.class);

        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(8));
        slow.interrupt();
    }

    @Test
    void aFirstMessageThatComesSlowlyHoldsNoPlaceEither() throws IOException {
        CompletableFuture<Link<Said>> guest = guest();
        Link<Said> host = toGuest();
        guest.join();
        near.getOutputStream().write('{');

        assertThatThrownBy(host::receive).isInstanceOf(SocketTimeoutException.class);
    }

    /** The socket of a channel would close. */
    @Test
    void aThreadThatWasInterruptedStillSends() throws IOException {
        Endpoint place = new Endpoint("127.0.0.1", listener.getLocalPort());
        CompletableFuture<Link<Said>> host = CompletableFuture.supplyAsync(() -> accepted());
        try (Link<Said> guest = Link.call(place, PROTOCOL, SECRET, Deadline.none());
                Link<Said> other = host.join()) {
            Thread.currentThread().interrupt();
            guest.send(new Said.Ping());
            assertThat(Thread.interrupted()).isTrue();

            guest.send(new Said.Ping());
            assertThat(other.receive()).isEqualTo(new Said.Ping());
            assertThat(other.receive()).isEqualTo(new Said.Ping());
        }
    }

    private Link<Said> accepted() {
        try {
            return Link.toGuest(listener.accept(), PROTOCOL, SECRET);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void silenceEndsALinkAndBytesDoNot() throws IOException {
        CompletableFuture<Link<Said>> guest = guest();
        Link<Said> host = toGuest();
        host.allow(Duration.ofMillis(200), Deadline.none());
        guest.join().send(new Said.Ping());

        assertThat(host.receive()).isEqualTo(new Said.Ping());
        assertThatThrownBy(host::receive).isInstanceOf(SocketTimeoutException.class);
    }
}
