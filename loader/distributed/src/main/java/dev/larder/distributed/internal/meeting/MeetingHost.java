package dev.larder.distributed.internal.meeting;

import dev.larder.distributed.internal.meeting.Link.StrangerException;
import dev.larder.distributed.internal.meeting.MeetingMessage.GaveUp;
import dev.larder.distributed.internal.meeting.MeetingMessage.Hello;
import dev.larder.distributed.internal.meeting.MeetingMessage.Met;
import dev.larder.distributed.internal.meeting.MeetingMessage.Missing;
import dev.larder.distributed.internal.meeting.MeetingMessage.Refused;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0 of a meeting by TCP: waits for all ranks, and gives them the key. A rank that goes away before all have come is missing again,
 * and may come back.
 */
final class MeetingHost implements Acceptor.Guests<MeetingMessage, MeetingPeer>, AutoCloseable {
    private static final Duration SEND_PATIENCE = Duration.ofSeconds(5);
    private static final long TICK_MS = 50;

    private final Endpoint place;
    private final RankSeat seat;
    private final Deadline deadline;
    private final Acceptor<MeetingMessage, MeetingPeer> acceptor;
    private final Map<Integer, MeetingPeer> ranks = new TreeMap<>();
    private final NodeLinks links = new NodeLinks();
    private boolean isNews;
    private boolean haveMet;
    private boolean isClosed;
    private String lastRefusal = "";

    /** Takes over a listener, and closes it. */
    MeetingHost(Endpoint place, RankSeat seat, Deadline deadline, ServerSocket listener) {
        this.place = place;
        this.seat = seat;
        this.deadline = deadline;
        this.acceptor =
                new Acceptor<>(listener, MeetingMessage.protocol(seat.worldSize()), seat.secret(), Deadline.FOREVER);
    }

    /** Waits for all ranks, and returns the key. */
    static String meet(Endpoint place, RankSeat seat, Deadline deadline) {
        try (MeetingHost host = new MeetingHost(place, seat, deadline, Acceptor.listen(place, seat.secret()))) {
            Met met = new Met(Keys.text(Keys.random()), List.of());
            host.send(met, host.gather());
            return met.key();
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
        return Failure.of(ErrorCode.REFUSED, "the rendezvous port is in use")
                .with("address", place.text())
                .with("by", MeetingGuest.listenerAt(place, seat))
                .cause(reason)
                .remedy("choose another port, or end the program that listens there (ss -ltnp shows it)");
    }

    /** Waits for all nodes, and keeps the connections to them. */
    NodeLinks gatherNodes(String key) throws IOException {
        List<MeetingPeer> peers = gather();
        List<String> cards = new ArrayList<>(List.of(seat.card()));
        peers.forEach(peer -> cards.add(peer.hello().card()));
        if (!send(new Met(key, cards), peers)) {
            throw Failure.of(ErrorCode.UNEXPECTED, "a node went away while the nodes met")
                    .with("missing", Ranks.text(missing()))
                    .remedy("find out why it ended, and restart all nodes");
        }
        for (MeetingPeer peer : peers) {
            peer.link().keepAlive();
        }
        synchronized (this) {
            ranks.clear(); // the links own them now
        }
        return links.begin(cards, peers);
    }

    private List<MeetingPeer> gather() {
        acceptor.start(this);
        try {
            return awaitAll();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw MeetingGuest.interrupted(place);
        }
    }

    private synchronized List<MeetingPeer> awaitAll() throws InterruptedException {
        while (ranks.size() < seat.worldSize() - 1) {
            if (deadline.isOver()) {
                throw tooLate();
            }
            if (isNews) {
                isNews = false;
                tellAll(new Missing(Ranks.text(missing())));
            }
            wait(Math.min(TICK_MS, deadline.remainingMillis()));
        }
        haveMet = true;
        return List.copyOf(ranks.values());
    }

    /** Sends all ranks their last message of the meeting; false if one has gone away, or does not read. */
    private boolean send(Met met, List<MeetingPeer> peers) {
        peers.forEach(peer -> peer.outbox().send(met));
        return flush(peers);
    }

    /** Waits until all is sent, or no rank has read for a while. */
    private static boolean flush(List<MeetingPeer> peers) {
        List<MeetingPeer> left = new ArrayList<>(peers);
        Deadline patience = Deadline.after(SEND_PATIENCE);
        while (!left.isEmpty() && !patience.isOver()) {
            boolean unused = left.get(0).outbox().flush(Deadline.after(Duration.ofMillis(TICK_MS)));
            if (left.removeIf(peer -> peer.outbox().isDone())) {
                patience = Deadline.after(SEND_PATIENCE);
            }
        }
        return peers.stream().allMatch(peer -> peer.outbox().isEmpty());
    }

    @Override
    public synchronized MeetingPeer greet(Link<MeetingMessage> link, MeetingMessage message) throws IOException {
        if (isClosed || !(message instanceof Hello hello)) {
            throw new StrangerException(isClosed ? "it comes too late" : "it does not introduce itself");
        }
        String objection = objection(hello);
        if (objection != null) {
            link.send(new Refused(objection));
            throw new StrangerException("rank " + hello.rank() + " of pid " + hello.pid() + ": " + objection);
        }
        MeetingPeer peer = new MeetingPeer(hello.rank(), hello, link, new Outbox<>(link));
        ranks.put(hello.rank(), peer);
        isNews = true;
        if (ranks.size() == seat.worldSize() - 1) {
            notifyAll();
        }
        return peer;
    }

    private @Nullable String objection(Hello hello) {
        String here = " (rank 0 is pid " + ProcessHandle.current().pid() + ")";
        if (!hello.job().equals(Hello.of(seat).job())) {
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
        MeetingPeer before = ranks.get(hello.rank());
        return before == null
                ? null
                : "this rank has already joined, as pid " + before.hello().pid() + here;
    }

    /** Passes a message to the links; a rank sends none before all have met. */
    @Override
    public synchronized void heard(MeetingPeer peer, MeetingMessage message) throws IOException {
        if (!haveMet) {
            throw new StrangerException("a rank sends nothing before all have met");
        }
        links.heard(peer.node(), message);
    }

    @Override
    public synchronized void gone(MeetingPeer peer, IOException reason) {
        peer.close();
        if (ranks.remove(peer.node(), peer)) {
            isNews = true;
        }
        if (haveMet) {
            links.gone(peer.node(), reason);
        }
    }

    @Override
    public synchronized void turnedAway(InetAddress address, IOException reason) {
        lastRefusal = reason instanceof SocketTimeoutException
                ? "a caller that sent nothing"
                : reason instanceof StrangerException ? Failure.words(reason) : lastRefusal;
    }

    private synchronized BitSet missing() {
        BitSet missing = Ranks.all(seat.worldSize());
        missing.clear(0);
        ranks.keySet().forEach(missing::clear);
        return missing;
    }

    private LarderException tooLate() {
        String missing = Ranks.text(missing());
        tellAll(new GaveUp(missing));
        flush(List.copyOf(ranks.values()));
        Failure failure = MeetingGuest.tooLate(place, deadline, missing);
        if (!lastRefusal.isEmpty()) {
            failure.with("turnedAway", lastRefusal);
        }
        return failure.remedy(MeetingGuest.LOOK_AT_THE_MISSING);
    }

    private void tellAll(MeetingMessage message) {
        ranks.values().forEach(peer -> peer.outbox().send(message));
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        acceptor.close();
        ranks.values().forEach(MeetingPeer::close);
    }
}
