package dev.larder.cluster;

import dev.larder.distributed.rendezvous.Handshake;
import dev.larder.distributed.rendezvous.Handshake.Side;
import dev.larder.distributed.rendezvous.RunSecret;
import dev.larder.internal.time.Deadline;
import dev.larder.message.BadMessage;
import dev.larder.message.MessageReader;
import dev.larder.message.Messages;
import dev.larder.message.Messages.UnknownFields;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A connection between a node and the leader, on which each has proven that it knows the run's secret, and every message proves it
 * again. Messages can be read on the network, but not changed, repeated, left out or added.
 *
 * <pre>
 *  node    magic (8) | version (4) | nonce (32)
 *  leader  magic (8) | version (4) | nonce (32)
 *  node    the guest's proof of the Handshake over both nonces (32)
 *  leader  1 and the host's proof (32); or 0
 *  then    {"code":"…"} | 0 | message | 0
 * </pre>
 *
 * <p>The code is the first 16 bytes, in hex, of a MAC under the sender's key of the connection: of the count of messages before (8), and
 * the {@link Message}.
 *
 * <p>A sender waits only while the kernel's buffer is full. One thread receives; any may send.
 */
final class NodeLink implements AutoCloseable {
    /** Changes with what messages mean. */
    static final int VERSION = 5;

    private static final String NAME = "larder nodes";
    private static final byte[] MAGIC = "LARDRDZV".getBytes(StandardCharsets.US_ASCII);
    private static final String ALGORITHM = "HmacSHA256";
    private static final int CODE_BYTES = 16;
    private static final Duration HANDSHAKE_PATIENCE = Duration.ofSeconds(5);
    private static final String HUNG_UP = "it hung up";

    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;
    private final MessageReader messages = new MessageReader(Message.MAX_BYTES);
    private final Mac sends;
    private final Mac receives;
    private long sent;
    private long received;

    /** The other side is no leader of this run, or no node of it. */
    static final class StrangerException extends IOException {
        private static final long serialVersionUID = 1;

        StrangerException(String reason) {
            super(reason);
        }
    }

    private record Seal(String code) {}

    private NodeLink(Socket socket, DataInputStream in, DataOutputStream out, Mac sends, Mac receives) {
        this.socket = socket;
        this.in = in;
        this.out = out;
        this.sends = sends;
        this.receives = receives;
    }

    /** Proves to a leader that this is a node of its run, and has it prove the like. */
    static NodeLink toLeader(Socket socket, RunSecret secret, Duration silence) throws IOException {
        Streams streams = Streams.on(socket);
        byte[] mine = RunSecret.nonce();
        greet(streams.out, mine);
        Handshake handshake = new Handshake(secret, NAME, mine, streams.greeting());
        streams.out.write(handshake.proof(Side.GUEST));
        streams.out.flush();
        if (streams.take(1)[0] != 1 || !handshake.proves(streams.take(RunSecret.PROOF_BYTES), Side.HOST)) {
            throw new StrangerException("it has another secret");
        }
        socket.setSoTimeout((int) silence.toMillis());
        return new NodeLink(
                socket, streams.in, streams.out, mac(handshake.key(Side.GUEST)), mac(handshake.key(Side.HOST)));
    }

    /** Has a caller prove that it is a node of this run, and proves the like. */
    static NodeLink toNode(Socket socket, RunSecret secret, Duration silence) throws IOException {
        Streams streams = Streams.on(socket);
        byte[] theirs = streams.greeting();
        byte[] mine = RunSecret.nonce();
        greet(streams.out, mine);
        Handshake handshake = new Handshake(secret, NAME, theirs, mine);
        if (!handshake.proves(streams.take(RunSecret.PROOF_BYTES), Side.GUEST)) {
            streams.out.write(0);
            streams.out.flush();
            throw new StrangerException("it has another secret");
        }
        streams.out.write(1);
        streams.out.write(handshake.proof(Side.HOST));
        streams.out.flush();
        socket.setSoTimeout((int) silence.toMillis());
        return new NodeLink(
                socket, streams.in, streams.out, mac(handshake.key(Side.HOST)), mac(handshake.key(Side.GUEST)));
    }

    /** What comes before the messages: it has a deadline as a whole, so that nobody holds a place by a byte now and then. */
    private record Streams(Socket socket, DataInputStream in, DataOutputStream out, Deadline deadline) {
        private static Streams on(Socket socket) throws IOException {
            socket.setTcpNoDelay(true);
            return new Streams(
                    socket,
                    new DataInputStream(socket.getInputStream()),
                    new DataOutputStream(new BufferedOutputStream(socket.getOutputStream())),
                    Deadline.after(HANDSHAKE_PATIENCE));
        }

        private byte[] take(int length) throws IOException {
            byte[] bytes = new byte[length];
            for (int taken = 0; taken < length; ) {
                if (deadline.isOver()) {
                    throw new SocketTimeoutException("it does not say who it is");
                }
                socket.setSoTimeout((int) deadline.remainingMillis());
                int count = in.read(bytes, taken, length - taken);
                if (count < 0) {
                    throw new EOFException(HUNG_UP);
                }
                taken += count;
            }
            return bytes;
        }

        private byte[] greeting() throws IOException {
            if (!Arrays.equals(take(MAGIC.length), MAGIC)) {
                throw new StrangerException("it is another program");
            }
            int version = ByteBuffer.wrap(take(Integer.BYTES)).getInt();
            if (version != VERSION) {
                throw new StrangerException("it is of another release of Larder: its version of the protocol is "
                        + version + ", and " + VERSION + " here");
            }
            return take(RunSecret.NONCE_BYTES);
        }
    }

    /** Makes codes by a key of this connection and direction. */
    private static Mac mac(byte[] key) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has " + ALGORITHM, e);
        }
    }

    private static void greet(DataOutputStream out, byte[] nonce) throws IOException {
        out.write(MAGIC);
        out.writeInt(VERSION);
        out.write(nonce);
        out.flush();
    }

    void send(Message message) throws IOException {
        byte[] body = message.encode();
        ByteBuffer sealed = ByteBuffer.wrap(body, 0, body.length - 1); // without the NUL byte
        synchronized (out) {
            out.write(Messages.encode(new Seal(code(sends, sent++, sealed))));
            out.write(body);
            out.flush();
        }
    }

    /**
     * Waits for a message.
     *
     * @throws java.net.SocketTimeoutException if the other side has been silent for too long
     */
    Message receive() throws IOException {
        try {
            Seal seal = Messages.decode(messages.next(in), Seal.class, UnknownFields.REFUSED);
            ByteBuffer body = messages.next(in);
            if (!isEqual(seal.code, code(receives, received++, body))) {
                throw new StrangerException("a message was changed on its way");
            }
            Message message = Message.decode(body);
            if (body.remaining() > Messages.MAX_BYTES) {
                messages.releaseIfEmpty(); // such ones are rare
            }
            return message;
        } catch (BadMessage e) {
            throw new StrangerException("not a message: " + e.getMessage());
        } catch (EOFException e) {
            throw new EOFException(HUNG_UP);
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
    String peer() {
        return socket.getInetAddress().getHostAddress();
    }

    /** Returns the address by which this side is connected. */
    InetAddress local() {
        return socket.getLocalAddress();
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            return; // gone either way
        }
    }
}
