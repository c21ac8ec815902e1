package dev.larder.distributed.rendezvous;

import dev.larder.distributed.rendezvous.MeetingProtocol.Answer;
import dev.larder.distributed.rendezvous.MeetingProtocol.Met;
import dev.larder.distributed.rendezvous.MeetingProtocol.NotOursException;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Any other rank of a meeting by TCP: goes to rank 0, again and again until that is there, and waits for what it says. */
final class TcpClient {
    static final String LOOK_AT_THE_MISSING = "check the missing ranks, or raise the timeout";

    private static final Duration PROBE_PATIENCE = Duration.ofSeconds(1);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(200);

    private final Endpoint place;
    private final RankSeat seat;
    private final Deadline deadline;
    private final Selector selector;
    private final ByteBuffer read;
    private final byte[] hello;
    private @Nullable Handshake handshake;
    private @Nullable SocketChannel kept;
    private String missing = "0";
    private String state = "nothing listens there";

    private TcpClient(Endpoint place, RankSeat seat, Deadline deadline, Selector selector) {
        this.place = place;
        this.seat = seat;
        this.deadline = deadline;
        this.selector = selector;
        this.read = MeetingProtocol.allocate(MeetingProtocol.ANSWER_HEADER_LENGTH + MeetingProtocol.textLimit(seat));
        this.hello = MeetingProtocol.hello(seat, RunSecret.nonce()).array();
    }

    static RendezvousResult meet(Endpoint place, RankSeat seat, Deadline deadline) {
        return meet(place, seat, deadline, (met, channel) -> {
            channel.close();
            return RendezvousResult.onOneMachine(seat, met.key());
        });
    }

    /** Meets rank 0 and the other ranks, and keeps the connection. */
    static NodeLinks meetNodes(Endpoint place, RankSeat seat, Deadline deadline) {
        return meet(place, seat, deadline, NodeLinks::ofGuest);
    }

    /** What becomes of a connection when all have met. */
    private interface Use<T> {
        T make(Met met, SocketChannel channel) throws IOException;
    }

    private static <T> T meet(Endpoint place, RankSeat seat, Deadline deadline, Use<T> use) {
        try (Selector selector = Selector.open()) {
            TcpClient guest = new TcpClient(place, seat, deadline, selector);
            Answer answer = guest.askUntilAnswered();
            return switch (answer.kind()) {
                case MET -> guest.used(answer, use);
                case REFUSED -> throw refused(place, seat, answer.text());
                default ->
                    throw tooLate(place, deadline, answer.text())
                            .with("toldBy", "rank 0")
                            .remedy(LOOK_AT_THE_MISSING);
            };
        } catch (NotOursException e) {
            throw Failure.of(ErrorCode.REFUSED, "another program listens where rank 0 should")
                    .with("address", place.text())
                    .remedy("choose another port, or end that program (ss -ltnp shows it)");
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot wait for rank 0")
                    .with("address", place.text())
                    .with("reason", e)
                    .cause(e)
                    .exception();
        }
    }

    /** Hands the connection over to whoever closes it then. */
    private <T> T used(Answer answer, Use<T> use) throws IOException {
        Met met = handshake == null ? null : MeetingProtocol.decodeMet(handshake, answer.text());
        SocketChannel channel = Objects.requireNonNull(kept);
        if (met == null) {
            channel.close();
            throw Failure.of(ErrorCode.REFUSED, "who listens as rank 0 does not know the run's secret")
                    .with("address", place.text())
                    .remedy(RunSecret.REMEDY);
        }
        return use.make(met, channel);
    }

    /** Asks who listens at a port that rank 0 wanted. */
    static String whoListens(Endpoint place, RankSeat rankZero) {
        try (Selector selector = Selector.open()) {
            TcpClient guest = new TcpClient(place, rankZero, Deadline.after(PROBE_PATIENCE), selector);
            Answer answer = guest.ask();
            return answer == null ? "another program" : "a rank 0: " + answer.text();
        } catch (NotOursException | IOException | LarderException noRank) {
            return "another program";
        }
    }

    private static LarderException refused(Endpoint place, RankSeat seat, String reason) {
        return Failure.of(ErrorCode.REFUSED, "rank 0 refused this rank")
                .with("rank", seat.rank())
                .with("address", place.text())
                .with("reason", reason)
                .remedy("give every job its own address, and every rank its own number");
    }

    static Failure tooLate(Endpoint place, Deadline deadline, String missing) {
        return Failure.of(ErrorCode.DEADLINE, "not all ranks arrived in time")
                .with("missing", missing)
                .with("address", place.text())
                .with("timeout", deadline.timeout());
    }

    static LarderException interrupted(Endpoint place) {
        return Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting for other ranks")
                .with("address", place.text())
                .exception();
    }

    private Answer askUntilAnswered() throws IOException, NotOursException {
        Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
        while (true) {
            Answer answer = ask();
            if (answer != null) {
                return answer;
            }
            select(backoff.nextMillis());
        }
    }

    /** Goes to rank 0 once; null where nobody is there, or it went away without a last word. */
    private @Nullable Answer ask() throws NotOursException, IOException {
        read.clear();
        SocketChannel channel = SocketChannel.open();
        try {
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT);
            boolean connected = channel.connect(place.address());
            while (!connected) {
                select(LONGEST_PAUSE.toMillis());
                connected = channel.finishConnect();
            }
            if (channel.getLocalAddress().equals(channel.getRemoteAddress())) {
                return null; // without a listener the kernel may connect a port of this machine to itself
            }
            key.interestOps(SelectionKey.OP_READ);
            channel.write(ByteBuffer.wrap(hello));
            state = "rank 0 does not answer";
            Answer answer = listen(channel);
            kept = answer != null && answer.kind() == MeetingProtocol.Kind.MET ? channel : null;
            return answer;
        } catch (IOException gone) {
            if (Thread.currentThread().isInterrupted()) {
                throw interrupted(place);
            }
            missing = "0";
            state = Failure.words(gone);
            return null;
        } finally {
            if (kept == null) {
                channel.close();
                selector.selectNow(); // lets go of the closed channel
            }
        }
    }

    private @Nullable Answer listen(SocketChannel channel) throws IOException, NotOursException {
        while (true) {
            select(LONGEST_PAUSE.toMillis());
            if (channel.read(read) < 0) {
                missing = "0";
                state = "rank 0 went away";
                return null;
            }
            for (Answer answer = MeetingProtocol.takeAnswer(read);
                    answer != null;
                    answer = MeetingProtocol.takeAnswer(read)) {
                switch (answer.kind()) {
                    case MISSING -> {
                        missing = answer.text();
                        state = "";
                    }
                    case CHALLENGE -> {
                        if (!MeetingProtocol.isChallenge(answer.text())) {
                            throw new NotOursException();
                        }
                        Handshake begun = MeetingProtocol.handshake(
                                seat.secret(), hello, HexFormat.of().parseHex(answer.text()));
                        handshake = begun;
                        channel.write(MeetingProtocol.proof(seat, begun));
                    }
                    default -> {
                        return answer;
                    }
                }
            }
        }
    }

    private void select(long pauseMs) throws IOException {
        selector.select(Math.min(pauseMs, deadline.remainingMillis()));
        selector.selectedKeys().clear();
        if (Thread.currentThread().isInterrupted()) {
            throw interrupted(place);
        }
        if (deadline.isOver()) {
            Failure failure = tooLate(place, deadline, missing);
            if (!state.isEmpty()) {
                failure.with("state", state);
            }
            throw failure.remedy(LOOK_AT_THE_MISSING);
        }
    }
}
