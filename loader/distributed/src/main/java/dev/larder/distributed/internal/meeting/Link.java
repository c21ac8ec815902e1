package dev.larder.distributed.internal.meeting;

import dev.larder.internal.time.Deadline;
import dev.larder.message.BadMessage;
import dev.larder.message.MessageReader;
import dev.larder.message.Messages;
import dev.larder.message.Messages.UnknownFields;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import jdk.net.ExtendedSocketOptions;

/**
 * A connection between a guest, which connects, and a host, which listens. Each side proves its knowledge of the
 * run's secret, and every message has a proof of its own: others on the network can read messages, but cannot change, repeat, leave out or
 * add one.
 *
 * <pre>
 *  guest   name of the protocol (8) | version (4) | nonce (32)
 *  host    name of the protocol (8) | version (4) | nonce (32)
 *  guest   proof (32)
 *  host    1 and its proof (32); or 0
 *  then    {"code":"…"} | 0 | message | 0
 * </pre>
 *
 * <p>A proof and a key hold for one protocol, one side and one connection: both are codes by the secret over these names and both nonces.
 * The code of a message is the first 16 bytes, in hex, of a code by the key of its sender: over the number of earlier messages (8), and
 * the message.
 *
 * <p>Sending waits only while the buffers of the kernels are full. One thread receives; any may send.
 */
public final class Link<M> implements AutoCloseable {
    private static final String ALGORITHM = "HmacSHA256";
    private static final int CODE_BYTES = 16;
    private static final Duration HANDSHAKE_PATIENCE = Duration.ofSeconds(5);
    private static final Duration CONNECT_PATIENCE = Duration.ofSeconds(3);
    private static final int KEEP_ALIVE_SECONDS = 1;
    private static final int KEEP_ALIVE_TRIES = 6;

    private final Protocol<M> protocol;
    private final TimedInput in;
    private final OutputStream out;
    private final Socket socket;
    private final MessageReader messages;
    private final int mostSentBytes;
    private final Mac sends;
    private final Mac receives;
    private long sent;
    private long received;

    /**
     * A kind of conversation.
     *
     * @param name 8 ASCII characters that no other protocol has
     * @param version changes with the meaning of messages
     * @param type a sealed interface of records
     * @param guestBytes the longest message of a guest
     * @param hostBytes the longest message of the host
     */
    public record Protocol<M>(String name, int version, Class<M> type, int guestBytes, int hostBytes) {
        private byte[] nameBytes() {
            return name.getBytes(StandardCharsets.US_ASCII);
        }

        private byte[] greeting(byte[] nonce) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            bytes.writeBytes(nameBytes());
            bytes.writeBytes(
                    ByteBuffer.allocate(Integer.BYTES).putInt(0, version).array());
            bytes.writeBytes(nonce);
            return bytes.toByteArray();
        }

        private void requireName(TimedInput in) throws IOException {
            if (!MessageDigest.isEqual(in.take(nameBytes().length), nameBytes())) {
                throw new StrangerException("it is another program");
            }
        }

        private byte[] nonce(TimedInput in) throws IOException {
            int found = ByteBuffer.wrap(in.take(Integer.BYTES)).getInt();
            if (found != version) {
                throw new StrangerException("it is of another release of Larder: its version of the protocol is "
                        + found + ", and " + version + " here");
            }
            return in.take(RunSecret.NONCE_BYTES);
        }
    }

    /** Reports that the other side does not belong to this run. */
    public static final class StrangerException extends IOException {
        private static final long serialVersionUID = 1;

        /** Reports a stranger for this reason. */
        public StrangerException(String reason) {
            super(reason);
        }
    }

    private enum Side {
        GUEST,
        HOST
    }

    /** The secret and both nonces of a connection. */
    private static final class Proofs {
        private final RunSecret secret;
        private final String protocol;
        private final byte[] guestNonce;
        private final byte[] hostNonce;

        private Proofs(RunSecret secret, Protocol<?> protocol, byte[] guestNonce, byte[] hostNonce) {
            this.secret = secret;
            this.protocol = protocol.name;
            this.guestNonce = guestNonce;
            this.hostNonce = hostNonce;
        }

        private byte[] of(Side side) {
            return secret.proof(protocol + " " + side + " proof", guestNonce, hostNonce);
        }

        private boolean areThoseOf(Side side, byte[] proof) {
            return MessageDigest.isEqual(proof, of(side));
        }

        private Mac codes(Side sender) {
            byte[] key = secret.proof(protocol + " " + sender + " key", guestNonce, hostNonce);
            try {
                Mac mac = Mac.getInstance(ALGORITHM);
                mac.init(new SecretKeySpec(key, ALGORITHM));
                return mac;
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("every JDK has " + ALGORITHM, e);
            }
        }
    }

    private record Seal(String code) {}

    private Link(Socket socket, TimedInput in, OutputStream out, Protocol<M> protocol, Proofs proofs, Side own) {
        boolean isGuest = own == Side.GUEST;
        this.socket = socket;
        this.in = in;
        this.out = out;
        this.protocol = protocol;
        this.messages = new MessageReader(isGuest ? protocol.hostBytes : protocol.guestBytes);
        this.mostSentBytes = isGuest ? protocol.guestBytes : protocol.hostBytes;
        this.sends = proofs.codes(own);
        this.receives = proofs.codes(isGuest ? Side.HOST : Side.GUEST);
    }

    /** Connects to a host once. An interrupt of the calling thread closes the connection, then and later. */
    public static <M> Link<M> call(Endpoint endpoint, Protocol<M> protocol, RunSecret secret, Deadline deadline)
            throws IOException {
        Socket socket =
                SocketChannel.open().socket(); // unlike another socket, it ends its waits if the thread is interrupted
        try {
            socket.connect(endpoint.address(), millis(CONNECT_PATIENCE, deadline));
            if (socket.getLocalSocketAddress().equals(socket.getRemoteSocketAddress())) {
                // without a listener, the kernel may connect a port of this machine to itself
                throw new ConnectException("Connection refused");
            }
            return toHost(socket, protocol, secret, deadline);
        } catch (UnknownHostException e) {
            socket.close();
            throw new IOException("no such host", e);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private static int millis(Duration most, Deadline deadline) {
        return (int) Math.min(Integer.MAX_VALUE, Math.min(most.toMillis(), deadline.remainingMillis()));
    }

    /** Takes the part of the guest. The limits of the handshake last until {@link #allow}. */
    static <M> Link<M> toHost(Socket socket, Protocol<M> protocol, RunSecret secret, Deadline deadline)
            throws IOException {
        Duration patience = Duration.ofMillis(millis(HANDSHAKE_PATIENCE, deadline));
        TimedInput in = new TimedInput(socket, Deadline.after(patience));
        OutputStream out = output(socket);
        byte[] nonce = RunSecret.nonce();
        write(out, protocol.greeting(nonce));
        protocol.requireName(in);
        Proofs proofs = new Proofs(secret, protocol, nonce, protocol.nonce(in));
        write(out, proofs.of(Side.GUEST));
        if (in.take(1)[0] != 1 || !proofs.areThoseOf(Side.HOST, in.take(RunSecret.PROOF_BYTES))) {
            throw new StrangerException("it has another secret");
        }
        return new Link<>(socket, in, out, protocol, proofs, Side.GUEST);
    }

    /** Takes the part of the host. The limits of the handshake last until {@link #allow}. */
    static <M> Link<M> toGuest(Socket socket, Protocol<M> protocol, RunSecret secret) throws IOException {
        TimedInput in = new TimedInput(socket, Deadline.after(HANDSHAKE_PATIENCE));
        OutputStream out = output(socket);
        protocol.requireName(in);
        byte[] nonce = RunSecret.nonce();
        write(out, protocol.greeting(nonce)); // even to another version, which can then report the difference
        Proofs proofs = new Proofs(secret, protocol, protocol.nonce(in), nonce);
        if (!proofs.areThoseOf(Side.GUEST, in.take(RunSecret.PROOF_BYTES))) {
            write(out, new byte[] {0});
            throw new StrangerException("it has another secret");
        }
        out.write(1);
        write(out, proofs.of(Side.HOST));
        return new Link<>(socket, in, out, protocol, proofs, Side.HOST);
    }

    private static OutputStream output(Socket socket) throws IOException {
        socket.setTcpNoDelay(true);
        return new BufferedOutputStream(socket.getOutputStream());
    }

    private static void write(OutputStream out, byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
    }

    /** The bytes of a socket, with two limits of the wait for them, so that a slow sender cannot hold a place indefinitely. */
    private static final class TimedInput extends InputStream {
        private final Socket socket;
        private final InputStream in;
        private Duration silence = Deadline.FOREVER;
        private Deadline deadline;

        private TimedInput(Socket socket, Deadline deadline) throws IOException {
            this.socket = socket;
            this.in = socket.getInputStream();
            this.deadline = deadline;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (deadline.isOver()) {
                throw new SocketTimeoutException();
            }
            socket.setSoTimeout(millis(silence, deadline));
            return in.read(bytes, offset, length);
        }

        private byte[] take(int length) throws IOException {
            byte[] bytes = readNBytes(length);
            if (bytes.length < length) {
                throw new EOFException("it hung up");
            }
            return bytes;
        }
    }

    /** Limits how long the other side may be silent, and until when it may send at all, from now on. */
    public void allow(Duration silence, Deadline deadline) {
        in.silence = silence;
        in.deadline = deadline;
    }

    /** Lets the kernels find out whether the other machine is still there: they answer for a process that is stopped. */
    void keepAlive() throws IOException {
        socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        set(ExtendedSocketOptions.TCP_KEEPIDLE, KEEP_ALIVE_SECONDS);
        set(ExtendedSocketOptions.TCP_KEEPINTERVAL, KEEP_ALIVE_SECONDS);
        set(ExtendedSocketOptions.TCP_KEEPCOUNT, KEEP_ALIVE_TRIES);
    }

    private void set(SocketOption<Integer> option, int value) throws IOException {
        if (socket.supportedOptions().contains(option)) {
            socket.setOption(option, value);
        }
    }

    /** Sends a message, also in a thread that was interrupted before. */
    public void send(M message) throws IOException {
        byte[] body = Messages.encode(protocol.type, message, mostSentBytes);
        ByteBuffer sealed = ByteBuffer.wrap(body, 0, body.length - 1); // without the NUL byte
        boolean isInterrupted = Thread.interrupted(); // a channel would close
        try {
            synchronized (out) {
                out.write(Messages.encode(new Seal(code(sends, sent++, sealed))));
                write(out, body);
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Waits for a message.
     *
     * @throws SocketTimeoutException if the other side exceeds a limit of {@link #allow}
     * @throws EOFException if it has closed the connection
     */
    public M receive() throws IOException {
        try {
            Seal seal = Messages.decode(messages.next(in), Seal.class, UnknownFields.REFUSED);
            ByteBuffer body = messages.next(in);
            if (!isEqual(seal.code, code(receives, received++, body))) {
                throw new StrangerException("a message was changed on its way");
            }
            M message = decode(body);
            if (body.remaining() > Messages.MAX_BYTES) {
                messages.releaseIfEmpty(); // such long ones are rare
            }
            return message;
        } catch (BadMessage e) {
            throw new StrangerException("not a message: " + e.getMessage());
        } catch (EOFException e) {
            throw new EOFException("it hung up");
        }
    }

    private M decode(ByteBuffer body) throws IOException {
        try {
            return Messages.decode(body, protocol.type, UnknownFields.SKIPPED);
        } catch (BadMessage e) {
            throw new IOException("not a message: " + e.getMessage(), e);
        }
    }

    private static boolean isEqual(String code, String expected) {
        return MessageDigest.isEqual(code.getBytes(StandardCharsets.UTF_8), expected.getBytes(StandardCharsets.UTF_8));
    }

    private static String code(Mac mac, long count, ByteBuffer body) {
        mac.update(ByteBuffer.allocate(Long.BYTES).putLong(0, count));
        mac.update(body.duplicate());
        return HexFormat.of().formatHex(mac.doFinal(), 0, CODE_BYTES);
    }

    /** Returns the address of the other side, without a port. */
    public String peer() {
        return socket.getInetAddress().getHostAddress();
    }

    /** Returns the address of this side. */
    public InetAddress local() {
        return socket.getLocalAddress();
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            return; // it is gone either way
        }
    }
}
