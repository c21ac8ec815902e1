package dev.larder.distributed.rendezvous;

import dev.larder.distributed.rendezvous.MeetingProtocol.Hello;
import dev.larder.distributed.rendezvous.MeetingProtocol.Kind;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.net.BindException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0 of a meeting by TCP: listens, counts who comes, and gives all the key once all are there.
 *
 * <p>One thread, that of the caller; nothing that a stranger does or leaves undone makes it wait. A rank that goes away before
 * all have come is missing again, and may come back.
 */
final class TcpHost implements AutoCloseable {
    private static final Duration STRANGER_PATIENCE = Duration.ofSeconds(5);
    private static final int MAX_STRANGERS = 256;
    private static final int BACKLOG = 1024;
    private static final long TICK_MS = 50;

    private final TcpEndpoint place;
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
        private final Deadline patience = Deadline.after(STRANGER_PATIENCE);
        private int rank = -1;
        private long pid;

        private Caller(SocketChannel channel) {
            this.channel = channel;
        }
    }

    private TcpHost(TcpEndpoint place, RankSeat seat, Deadline deadline) throws IOException {
        this.place = place;
        this.seat = seat;
        this.deadline = deadline;
        this.selector = Selector.open();
        ServerSocketChannel opened = null;
        try {
            opened = ServerSocketChannel.open();
            opened.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            opened.bind(place.address(), BACKLOG);
            opened.configureBlocking(false);
            opened.register(selector, SelectionKey.OP_ACCEPT);
            this.listener = opened;
        } catch (IOException | RuntimeException e) {
            if (opened != null) {
                opened.close();
            }
            selector.close();
            throw e;
        }
    }

    static RendezvousResult meet(TcpEndpoint place, RankSeat seat, Deadline deadline) {
        try (TcpHost host = new TcpHost(place, seat, deadline)) {
            return host.gather();
        } catch (BindException e) {
            throw cannotListen(place, seat, e);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "rank 0 cannot listen")
                    .with("address", place.text())
                    .with("reason", e.getMessage())
                    .cause(e)
                    .remedy("choose another port");
        }
    }

    private static LarderException cannotListen(TcpEndpoint place, RankSeat seat, BindException reason) {
        String owner = TcpClient.whoListens(place, seat);
        return Failure.of(ErrorCode.REFUSED, "the rendezvous port is in use")
                .with("address", place.text())
                .with("by", owner)
                .cause(reason)
                .remedy("choose another port, or end what listens there (ss -ltnp shows it)");
    }

    private RendezvousResult gather() throws IOException {
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
        String key = Keys.text(Keys.random());
        tellAll(Kind.MET, key);
        return RendezvousResult.onOneMachine(seat, key);
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
            lastRefusal = String.valueOf(noDescriptorLeft.getMessage());
            if (!strangers.isEmpty()) {
                drop(strangers.get(0));
            }
        }
    }

    private void read(Caller caller) {
        try {
            // A rank has nothing more to say: whatever comes means that it is gone, or none of ours.
            ByteBuffer target = caller.rank < 0 ? caller.hello : ByteBuffer.allocate(1);
            int count = caller.channel.read(target);
            if (count < 0 || (caller.rank >= 0 && count > 0)) {
                drop(caller);
            } else if (!MeetingProtocol.beginsHello(caller.hello.duplicate().flip())) {
                lastRefusal = "a caller that is not a rank";
                drop(caller);
            } else if (caller.rank < 0 && !caller.hello.hasRemaining()) {
                seat(caller, MeetingProtocol.decodeHello(caller.hello, seat));
            }
        } catch (IOException gone) {
            drop(caller);
        }
    }

    private void seat(Caller caller, Hello hello) {
        String objection = objection(hello);
        if (objection != null) {
            lastRefusal = "rank " + hello.rank() + " of pid " + hello.pid() + ": " + objection;
            tell(caller, Kind.REFUSED, objection);
            drop(caller);
            return;
        }
        caller.rank = hello.rank();
        caller.pid = hello.pid();
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

    /** Says something small: who does not take it has stopped reading long ago, and is dropped. */
    private void tell(Caller caller, Kind kind, String text) {
        ByteBuffer answer = MeetingProtocol.answer(kind, text);
        try {
            caller.channel.write(answer);
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
