package dev.larder.distributed.rendezvous;

import dev.larder.distributed.rendezvous.MeetingProtocol.Hello;
import dev.larder.distributed.rendezvous.MeetingProtocol.Kind;
import dev.larder.distributed.rendezvous.MeetingProtocol.Met;
import dev.larder.distributed.rendezvous.MeetingProtocol.NotOursException;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.net.BindException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0 of a meeting by TCP: listens, counts who comes, and gives all the key once all are there.
 *
 * <p>One thread, that of the caller; nothing that a stranger does or leaves undone makes it wait. A rank that goes away before
 * all have come is missing again, and may come back.
 */
final class TcpHost implements AutoCloseable {
    private static final Duration STRANGER_PATIENCE = Duration.ofSeconds(5);
    private static final Duration LISTENER_PATIENCE = Duration.ofSeconds(5);
    private static final long FULL_PAUSE_NS = 200_000;
    private static final String OTHER_SECRET =
            "this rank does not know the secret of rank 0, or one of the two has none; " + RunSecret.REMEDY;
    private static final int MAX_STRANGERS = 256;
    private static final int BACKLOG = 1024;
    private static final long TICK_MS = 50;

    private final Endpoint place;
    private final RankSeat seat;
    private final Deadline deadline;
    private final Selector selector;
    private final ServerSocketChannel listener;
    private final List<Caller> strangers = new ArrayList<>();
    private final Map<Integer, Caller> ranks = new HashMap<>();
    private boolean isNews;
    private String lastRefusal = "";

    /** Somebody who connected; a rank once it has said hello. */
    private static final class Caller {
        private final SocketChannel channel;
        private final ByteBuffer hello = MeetingProtocol.allocate(MeetingProtocol.HELLO_LENGTH);
        private final ByteBuffer proof =
                MeetingProtocol.allocate(MeetingProtocol.PROOF_HEADER_LENGTH + MeetingProtocol.MAX_CARD_LENGTH);
        private final byte[] challenge = RunSecret.nonce();
        private final Deadline patience = Deadline.after(STRANGER_PATIENCE);
        private int rank = -1;
        private long pid;
        private String card = "";

        private Caller(SocketChannel channel) {
            this.channel = channel;
        }

        private byte[] helloBytes() {
            byte[] bytes = new byte[MeetingProtocol.HELLO_LENGTH];
            hello.get(0, bytes);
            return bytes;
        }
    }

    /** Takes over whatever listens, and closes it at its end. */
    TcpHost(Endpoint place, RankSeat seat, Deadline deadline, ServerSocketChannel listener) throws IOException {
        this.place = place;
        this.seat = seat;
        this.deadline = deadline;
        this.listener = listener;
        this.selector = Selector.open();
        try {
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Listens. The port may be 0, for one that is free. */
    static ServerSocketChannel listen(Endpoint place, RunSecret secret) throws IOException {
        ServerSocketChannel opened = ServerSocketChannel.open();
        try {
            opened.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            return opened.bind(place.listenAddress(secret.isGiven()), BACKLOG);
        } catch (IOException | RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    static RendezvousResult meet(Endpoint place, RankSeat seat, Deadline deadline) {
        try (TcpHost host = new TcpHost(place, seat, deadline, listen(place, seat.secret()))) {
            String key = host.gather();
            host.tellThatAllHaveMet(new Met(key, List.of()));
            return RendezvousResult.onOneMachine(seat, key);
        } catch (BindException e) {
            throw cannotListen(place, seat, e);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "rank 0 cannot listen")
                    .with("address", place.text())
                    .with("reason", e)
                    .cause(e)
                    .remedy("choose another port");
        }
    }

    static LarderException cannotListen(Endpoint place, RankSeat seat, BindException reason) {
        String owner = TcpClient.whoListens(place, seat);
        return Failure.of(ErrorCode.REFUSED, "the rendezvous port is in use")
                .with("address", place.text())
                .with("by", owner)
                .cause(reason)
                .remedy("choose another port, or end what listens there (ss -ltnp shows it)");
    }

    /** Waits for all ranks, and returns a new key. */
    private String gather() throws IOException {
        while (ranks.size() < seat.worldSize() - 1) {
            selector.select(Math.min(TICK_MS, deadline.remainingMillis()));
            if (Thread.currentThread().isInterrupted()) {
                throw TcpClient.interrupted(place);
            }
            serve();
            dropStrangers();
            if (deadline.isOver() && ranks.size() < seat.worldSize() - 1) {
                throw tooLate();
            }
            if (isNews) {
                isNews = false;
                tellAll(Kind.MISSING, Ranks.text(missing()));
            }
        }
        return Keys.text(Keys.random());
    }

    private List<String> cards() {
        if (seat.card().isEmpty()) {
            return List.of();
        }
        List<String> cards = new ArrayList<>(List.of(seat.card()));
        for (int rank = 1; rank < seat.worldSize(); rank++) {
            cards.add(Objects.requireNonNull(ranks.get(rank)).card);
        }
        return cards;
    }

    private void tellThatAllHaveMet(Met met) {
        for (Caller caller : List.copyOf(ranks.values())) {
            String text = MeetingProtocol.met(handshake(caller), met);
            tell(caller, Kind.MET, text, MeetingProtocol.textLimit(seat));
        }
    }

    /** Waits for all ranks, and keeps the connections to them. */
    NodeLinks gatherNodes(String key) throws IOException {
        gather();
        Met met = new Met(key, cards());
        List<SocketChannel> channels = new ArrayList<>();
        for (int rank = 1; rank < seat.worldSize(); rank++) {
            channels.add(Objects.requireNonNull(ranks.get(rank)).channel);
        }
        tellThatAllHaveMet(met);
        if (ranks.size() < seat.worldSize() - 1) {
            throw Failure.of(ErrorCode.UNEXPECTED, "a node went away while the nodes met")
                    .with("missing", Ranks.text(missing()))
                    .remedy("find out why it ended, and restart all nodes");
        }
        ranks.clear(); // they are the links' now
        selector.close();
        return NodeLinks.ofHost(met, channels);
    }

    private void serve() {
        for (SelectionKey key : selector.selectedKeys()) {
            if (key.isValid() && key.isAcceptable()) {
                accept();
            } else if (key.isValid() && key.attachment() instanceof Caller caller) {
                read(caller);
            }
        }
        selector.selectedKeys().clear();
    }

    /** Takes all who wait; without a descriptor left for them, those who have said nothing yet go first. */
    private void accept() {
        try {
            for (SocketChannel channel = listener.accept(); channel != null; channel = listener.accept()) {
                channel.configureBlocking(false);
                Caller caller = new Caller(channel);
                strangers.add(caller);
                channel.register(selector, SelectionKey.OP_READ, caller);
            }
        } catch (IOException noDescriptorLeft) {
            lastRefusal = Failure.words(noDescriptorLeft);
            if (!strangers.isEmpty()) {
                drop(strangers.get(0));
            }
        }
    }

    private void read(Caller caller) {
        try {
            boolean isSaid = !caller.hello.hasRemaining();
            ByteBuffer target = caller.rank >= 0 ? ByteBuffer.allocate(1) : isSaid ? caller.proof : caller.hello;
            int count = caller.channel.read(target);
            if (count < 0 || (caller.rank >= 0 && count > 0)) {
                drop(caller); // a rank has nothing more to say: whatever comes means that it is gone, or none of ours
            } else if (!isSaid) {
                readHello(caller);
            } else if (caller.rank < 0
                    && MeetingProtocol.isWholeProof(caller.proof
                            .duplicate()
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .flip())) {
                seat(caller, MeetingProtocol.decodeHello(caller.hello, seat));
            }
        } catch (NotOursException stranger) {
            lastRefusal = "a caller that is not a rank";
            drop(caller);
        } catch (IOException gone) {
            drop(caller);
        }
    }

    private void readHello(Caller caller) {
        if (!MeetingProtocol.beginsHello(caller.hello.duplicate().flip())) {
            lastRefusal = "a caller that is not a rank";
            drop(caller);
        } else if (!caller.hello.hasRemaining()) {
            tell(caller, Kind.CHALLENGE, HexFormat.of().formatHex(caller.challenge));
        }
    }

    private Handshake handshake(Caller caller) {
        return MeetingProtocol.handshake(seat.secret(), caller.helloBytes(), caller.challenge);
    }

    private void seat(Caller caller, Hello hello) {
        String card = MeetingProtocol.provedCard(handshake(caller), caller.proof);
        String objection = card == null ? OTHER_SECRET : objection(hello);
        if (objection != null) {
            lastRefusal = "rank " + hello.rank() + " of pid " + hello.pid() + ": " + objection;
            tell(caller, Kind.REFUSED, objection);
            drop(caller);
            return;
        }
        caller.rank = hello.rank();
        caller.pid = hello.pid();
        caller.card = String.valueOf(card);
        strangers.remove(caller);
        ranks.put(caller.rank, caller);
        isNews = true;
    }

    private @Nullable String objection(Hello hello) {
        if (hello.version() != MeetingProtocol.VERSION) {
            return "version " + hello.version() + " of the protocol, rank 0 has version " + MeetingProtocol.VERSION;
        }
        String here = " (rank 0 is pid " + ProcessHandle.current().pid() + ")";
        if (!hello.isSameJob()) {
            return "another job uses this address" + here;
        }
        if (hello.worldSize() != seat.worldSize()) {
            return "world sizes differ: this rank has " + hello.worldSize() + ", rank 0 has " + seat.worldSize() + here;
        }
        if (hello.rank() == 0) {
            return "there is already a rank 0" + here;
        }
        if (hello.rank() < 0 || hello.rank() >= seat.worldSize()) {
            return "no such rank among " + seat.worldSize() + here;
        }
        Caller before = ranks.get(hello.rank());
        return before == null ? null : "this rank has already joined, as pid " + before.pid + here;
    }

    private void dropStrangers() {
        while (!strangers.isEmpty()
                && (strangers.size() > MAX_STRANGERS
                        || strangers.get(0).patience.isOver())) {
            lastRefusal = "a caller that sent nothing";
            drop(strangers.get(0));
        }
    }

    private void drop(Caller caller) {
        strangers.remove(caller);
        if (caller.rank >= 0 && ranks.remove(caller.rank, caller)) {
            isNews = true;
        }
        close(caller);
    }

    private static void close(Caller caller) {
        try {
            caller.channel.close();
        } catch (IOException e) {
            return; // gone either way
        }
    }

    private BitSet missing() {
        BitSet missing = Ranks.all(seat.worldSize());
        missing.clear(0);
        ranks.keySet().forEach(missing::clear);
        return missing;
    }

    private LarderException tooLate() {
        String missing = Ranks.text(missing());
        tellAll(Kind.GAVE_UP, missing);
        Failure failure = TcpClient.tooLate(place, deadline, missing);
        if (!lastRefusal.isEmpty()) {
            failure.with("turnedAway", lastRefusal);
        }
        return failure.remedy(TcpClient.LOOK_AT_THE_MISSING);
    }

    private void tellAll(Kind kind, String text) {
        new ArrayList<>(ranks.values()).forEach(caller -> tell(caller, kind, text));
    }

    private void tell(Caller caller, Kind kind, String text) {
        tell(caller, kind, text, MeetingProtocol.MAX_TEXT_LENGTH);
    }

    /** Says something: who does not take it at once, or the cards of many nodes soon, has stopped reading, and is dropped. */
    private void tell(Caller caller, Kind kind, String text, int limit) {
        ByteBuffer answer = MeetingProtocol.answer(kind, text, limit);
        Deadline patience = Deadline.after(limit > MeetingProtocol.MAX_TEXT_LENGTH ? LISTENER_PATIENCE : Duration.ZERO);
        try {
            caller.channel.write(answer);
            while (answer.hasRemaining() && !patience.isOver()) {
                LockSupport.parkNanos(FULL_PAUSE_NS);
                caller.channel.write(answer);
            }
            if (answer.hasRemaining()) {
                drop(caller);
            }
        } catch (IOException gone) {
            drop(caller);
        }
    }

    @Override
    public void close() throws IOException {
        strangers.forEach(TcpHost::close);
        ranks.values().forEach(TcpHost::close);
        listener.close();
        selector.close();
    }
}
