package dev.larder.testing;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.Answers;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Protocol;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Response;
import dev.larder.message.BadMessage;
import dev.larder.message.Call;
import dev.larder.message.MessageReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HexFormat;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * One client that sends spoiled messages to a daemon, one connection after the other, and checks that each is answered or ended. It
 * decodes what it sends as the daemon does, so it knows what to expect, and never sends a request to stop that is valid.
 *
 * <p>Run by one thread; {@link #interruptIfStuck} is for another.
 */
public final class ProtocolAttack implements Runnable {
    /** How long a daemon on a busy machine may take to answer. */
    private static final long PATIENCE_NS = 20_000_000_000L;

    private static final int MOST_HELD = 32;
    private static final int SLOW_REQUESTS_WAITED_FOR = 200;
    private static final byte[] NOTHING = {};

    private final UnixDomainSocketAddress address;
    private final MessageMutator mutator;
    private final Random random;
    private final long messages;

    /** Connections that were left half-way, the oldest first. */
    private final Deque<SocketChannel> held = new ArrayDeque<>();

    private final Tally tally = new Tally();
    private volatile @Nullable SocketChannel waiting;
    private volatile long waitingSinceNs;
    private volatile @Nullable AssertionError failure;

    /** Prepares an attack on the daemon of a store, whose loads take the file. */
    public ProtocolAttack(Path store, Path source, long seed, long messages) {
        this.address = Protocol.address(new StoreLayout(store).socket());
        this.mutator = new MessageMutator(seed, ProtocolSamples.encode(ProtocolSamples.requests(source)));
        this.random = new Random(~seed);
        this.messages = messages;
    }

    /** What became of the messages so far; read it when the attack has ended. */
    public static final class Tally {
        private long refused;
        private long answered;
        private long cutShort;
        private long skipped;

        /** Returns how many connections the daemon ended with a reason. */
        public long refused() {
            return refused;
        }

        /** Returns how many spoiled requests were still valid. */
        public long answered() {
            return answered;
        }

        /** Returns how many were left before a frame was whole. */
        public long cutShort() {
            return cutShort;
        }

        /** Returns how many were not sent, as they would have stopped the daemon. */
        public long skipped() {
            return skipped;
        }
    }

    private enum Verdict {
        CUT_SHORT,
        REFUSED,
        ANSWERED,
        ANSWERED_LATE,
        STOPS
    }

    /** Returns what became of the messages. */
    public Tally tally() {
        return tally;
    }

    /** Returns what went wrong; null where nothing did. */
    public @Nullable AssertionError failure() {
        return failure;
    }

    /** Ends an exchange that the daemon leaves hanging; for a thread that watches. */
    public void interruptIfStuck() throws IOException {
        SocketChannel channel = waiting;
        if (channel != null && System.nanoTime() - waitingSinceNs > PATIENCE_NS) {
            channel.close();
        }
    }

    @Override
    public void run() {
        byte[] sent = NOTHING;
        try {
            for (long frame = 0; frame < messages; frame++) {
                sent = compose();
                exchange(sent);
            }
        } catch (IOException | RuntimeException | AssertionError e) {
            failure = new AssertionError(
                    "after " + HexFormat.of().formatHex(Arrays.copyOf(sent, Math.min(sent.length, 2_000))), e);
        } finally {
            held.forEach(ProtocolAttack::close);
        }
    }

    private byte[] compose() {
        return switch (random.nextInt(20)) {
            case 0 -> join(mutator.sample(), mutator.next());
            case 1 -> join(mutator.next(), mutator.next());
            case 2 -> join(mutator.next(), mutator.sample(), mutator.sample());
            default -> mutator.next();
        };
    }

    private void exchange(byte[] sent) throws IOException {
        Verdict verdict = judge(sent);
        if (verdict == Verdict.STOPS) {
            tally.skipped++;
            return;
        }
        SocketChannel channel = SocketChannel.open(address);
        watch(channel);
        try {
            boolean whole = send(channel, sent);
            follow(channel, verdict, whole);
        } finally {
            waiting = null;
            if (verdict == Verdict.CUT_SHORT && random.nextInt(4) == 0) {
                hold(channel);
            } else {
                close(channel);
            }
        }
    }

    private void follow(SocketChannel channel, Verdict verdict, boolean whole) throws IOException {
        if (verdict == Verdict.CUT_SHORT) {
            tally.cutShort++;
        } else if (verdict == Verdict.REFUSED) {
            tally.refused++;
            Response answer = answer(channel);
            if (!(answer instanceof Problem)) {
                throw new AssertionError("refused without a reason: answer=" + answer + " whole=" + whole);
            }
        } else {
            tally.answered++;
            boolean waits = verdict == Verdict.ANSWERED || random.nextInt(SLOW_REQUESTS_WAITED_FOR) == 0;
            if (waits && answer(channel) == null) {
                throw new AssertionError("no answer to a valid request");
            }
        }
    }

    /** Takes the bytes through the daemon's own steps. Whatever fails here other than as malformed would fail there too. */
    private static Verdict judge(byte[] sent) throws IOException {
        MessageReader messages = new MessageReader();
        ReadableByteChannel bytes = Channels.newChannel(new ByteArrayInputStream(sent));
        Verdict first = null;
        try {
            for (ByteBuffer next = nextMessage(messages, bytes); next != null; next = nextMessage(messages, bytes)) {
                Verdict verdict = verdict(next);
                if (verdict == Verdict.STOPS) {
                    return verdict; // the daemon takes it after the calls before it
                }
                first = first == null ? verdict : first;
            }
        } catch (BadMessage malformed) {
            return first == null ? Verdict.REFUSED : first;
        }
        return first == null ? Verdict.CUT_SHORT : first;
    }

    /** A call that is refused does not end the connection, a message that is none does. */
    private static Verdict verdict(ByteBuffer message) {
        try {
            return verdict(Call.decode(message, Protocol.METHODS));
        } catch (Call.Refused refused) {
            return refused.call().oneway() ? Verdict.CUT_SHORT : Verdict.REFUSED;
        }
    }

    private static Verdict verdict(Call call) {
        if (call.parameters() instanceof Request.Stop) {
            return Verdict.STOPS;
        }
        if (call.oneway()) {
            return Verdict.CUT_SHORT;
        }
        return call.parameters() instanceof Request.Wait || call.parameters() instanceof Request.Create
                ? Verdict.ANSWERED_LATE
                : Verdict.ANSWERED;
    }

    private static @Nullable ByteBuffer nextMessage(MessageReader messages, ReadableByteChannel bytes)
            throws IOException {
        ByteBuffer message = messages.next();
        while (message == null) {
            if (messages.read(bytes) < 0) {
                return null;
            }
            message = messages.next();
        }
        return message;
    }

    /** Sends all of it, or as much as the daemon takes before it ends the connection. */
    private static boolean send(SocketChannel channel, byte[] sent) {
        ByteBuffer bytes = ByteBuffer.wrap(sent);
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            return true;
        } catch (IOException refusedBeforeTheEnd) {
            return false;
        }
    }

    /** Returns the first response; null if the connection ends before. */
    private static @Nullable Response answer(SocketChannel channel) throws IOException {
        ByteBuffer message = nextMessage(new MessageReader(), channel);
        return message == null ? null : Answers.decode(message).response();
    }

    private void watch(SocketChannel channel) {
        waitingSinceNs = System.nanoTime();
        waiting = channel;
    }

    private void hold(SocketChannel channel) {
        held.add(channel);
        if (held.size() > MOST_HELD) {
            close(held.remove());
        }
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException ignored) {
            // closed all the same
        }
    }

    private static byte[] join(byte[]... parts) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            joined.writeBytes(part);
        }
        return joined.toByteArray();
    }
}
