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
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Any other rank of a meeting by TCP: calls rank 0 until it answers, and waits for the other ranks. */
final class MeetingGuest {
    static final String LOOK_AT_THE_MISSING = "check the missing ranks, or raise the timeout";

    private static final Duration PROBE_PATIENCE = Duration.ofSeconds(1);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(200);

    private final Endpoint place;
    private final RankSeat seat;
    private final Deadline deadline;
    private String missing = "0";
    private String state = "rank 0 does not answer";

    private MeetingGuest(Endpoint place, RankSeat seat, Deadline deadline) {
        this.place = place;
        this.seat = seat;
        this.deadline = deadline;
    }

    /** The other ranks, and the connection to rank 0. */
    private record Meeting(Met met, Link<MeetingMessage> link) {}

    /** Waits for all ranks, and returns the key. */
    static String meet(Endpoint place, RankSeat seat, Deadline deadline) {
        Meeting meeting = new MeetingGuest(place, seat, deadline).callUntilAllHaveMet();
        meeting.link.close();
        return meeting.met.key();
    }

    /** Waits for all nodes, and keeps the connection to node 0. */
    static NodeLinks meetNodes(Endpoint place, RankSeat seat, Deadline deadline) {
        Meeting meeting = new MeetingGuest(place, seat, deadline).callUntilAllHaveMet();
        Link<MeetingMessage> link = meeting.link;
        try {
            link.keepAlive();
            link.allow(Deadline.FOREVER, Deadline.none());
            MeetingPeer host = new MeetingPeer(0, Hello.of(seat), link, new Outbox<>(link));
            return new NodeLinks().begin(meeting.met.cards(), List.of(host)).listenTo(host);
        } catch (IOException e) {
            link.close();
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot keep the connection to node 0")
                    .with("address", place.text())
                    .with("reason", e)
                    .cause(e)
                    .exception();
        }
    }

    /** Describes the listener at a port that rank 0 needs. */
    static String listenerAt(Endpoint place, RankSeat rankZero) {
        MeetingGuest guest = new MeetingGuest(place, rankZero, Deadline.after(PROBE_PATIENCE));
        try (Link<MeetingMessage> link = guest.call()) {
            return link.receive() instanceof Refused refused ? "a rank 0: " + refused.reason() : "a rank 0";
        } catch (StrangerException e) {
            return "another program, or a rank 0 of another run";
        } catch (IOException e) {
            return "another program";
        }
    }

    private Link<MeetingMessage> call() throws IOException {
        Link<MeetingMessage> link =
                Link.call(place, MeetingMessage.protocol(seat.worldSize()), seat.secret(), deadline);
        link.allow(Deadline.FOREVER, deadline);
        link.send(Hello.of(seat));
        return link;
    }

    private Meeting callUntilAllHaveMet() {
        Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
        while (true) {
            Meeting meeting = tryToMeet();
            if (meeting != null) {
                return meeting;
            }
            if (Thread.currentThread().isInterrupted() || !backoff.pause(deadline)) {
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

    /** Calls once; null if rank 0 does not answer, goes away, or all have not come in time. */
    private @Nullable Meeting tryToMeet() {
        @Nullable Link<MeetingMessage> link = null;
        boolean haveMet = false;
        try {
            link = call();
            Met met = listen(link);
            haveMet = true;
            return new Meeting(met, link);
        } catch (StrangerException e) {
            throw Failure.of(ErrorCode.REFUSED, "the listener at the address is not rank 0 of this run")
                    .with("address", place.text())
                    .with("reason", e)
                    .cause(e)
                    .remedy("choose another port, or end the other program (ss -ltnp shows it); give all ranks the same"
                            + " release of Larder, and the same secret or none (" + RunSecret.VARIABLE + ")");
        } catch (IOException e) {
            if (!deadline.isOver()) {
                missing = "0";
                state = Failure.words(e);
            }
            return null;
        } finally {
            if (!haveMet && link != null) {
                link.close();
            }
        }
    }

    private Met listen(Link<MeetingMessage> link) throws IOException {
        while (true) {
            MeetingMessage message = link.receive();
            if (message instanceof Met met) {
                return met;
            } else if (message instanceof Missing others) {
                missing = others.ranks();
                state = "";
            } else if (message instanceof Refused refused) {
                throw refused(refused.reason());
            } else if (message instanceof GaveUp gaveUp) {
                throw tooLate(place, deadline, gaveUp.missing())
                        .with("toldBy", "rank 0")
                        .remedy(LOOK_AT_THE_MISSING);
            }
        }
    }

    private LarderException refused(String reason) {
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
}
