package dev.larder.distributed.rendezvous;

import dev.larder.distributed.internal.meeting.Endpoint;
import dev.larder.distributed.internal.meeting.LaunchVariables;
import dev.larder.distributed.internal.meeting.MeetingUrl;
import dev.larder.distributed.internal.meeting.RankMeeting;
import dev.larder.distributed.internal.meeting.RankSeat;
import dev.larder.internal.time.Deadline;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/**
 * Lets the ranks of one run meet, and gives them a key that no other run and no other attempt has.
 *
 * <ul>
 *   <li>{@code env://} reads the environment that {@code larder launch} and {@code torchrun} create, without a
 *       connection; under other launchers it meets by TCP at MASTER_ADDR and MASTER_PORT. Ranks may be on several nodes: then
 *       LOCAL_WORLD_SIZE is below WORLD_SIZE, GROUP_RANK and GROUP_WORLD_SIZE number the nodes, and off loopback all of them need
 *       the run's secret in {@code LARDER_RDZV_SECRET}.
 *   <li>{@code tcp://HOST:PORT?rank=R&world_size=N}: rank 0 listens, and the others call it. HOST is this machine.
 *   <li>{@code file:///PATH?rank=R&world_size=N}: the first rank creates the file, and the last one removes it. The ranks take
 *       over the file of a job that was killed.
 * </ul>
 *
 * <p>{@code &job=NAME} distinguishes jobs that share an address by mistake; under a launcher its run does. Every call ends by its
 * deadline with the names of the missing ranks, and immediately if its thread is interrupted.
 */
public final class Rendezvous {
    private Rendezvous() {}

    /** Meets the other ranks at an address that names rank and world size, or reads them from the environment. */
    public static RendezvousResult meet(String url, Duration timeout) {
        return meet(MeetingUrl.parse(url), System.getenv(), deadline(timeout));
    }

    /** Meets the other ranks as this rank, at an address that need not name it. */
    public static RendezvousResult meet(String url, int rank, int worldSize, Duration timeout) {
        return meet(MeetingUrl.parse(url).with(rank, worldSize), System.getenv(), deadline(timeout));
    }

    private static Deadline deadline(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("timeout is not above zero: " + timeout);
        }
        return Deadline.after(timeout);
    }

    static RendezvousResult meet(MeetingUrl url, Map<String, String> environment, Deadline deadline) {
        if (url.scheme().equals(MeetingUrl.ENV)) {
            return meetByEnvironment(url, environment, deadline);
        } else if (url.scheme().equals(MeetingUrl.TCP)) {
            Endpoint place = url.endpoint();
            RankSeat seat = url.seat(environment);
            return onOneMachine(seat, RankMeeting.byTcp(place, seat, deadline));
        }
        Path file = url.file();
        RankSeat seat = url.seat(environment);
        return onOneMachine(seat, RankMeeting.byFile(file, seat, deadline));
    }

    private static RendezvousResult meetByEnvironment(
            MeetingUrl url, Map<String, String> environment, Deadline deadline) {
        if (!url.place().isEmpty()) {
            throw url.badPlace("env:// names no place");
        }
        LaunchVariables variables = LaunchVariables.read(url, environment);
        return new RendezvousResult(
                variables.rank(),
                variables.worldSize(),
                variables.localRank(),
                variables.localWorldSize(),
                variables.node(),
                variables.nodes(),
                RankMeeting.byEnvironment(variables, url, environment, deadline));
    }

    private static RendezvousResult onOneMachine(RankSeat seat, String key) {
        return new RendezvousResult(seat.rank(), seat.worldSize(), seat.rank(), seat.worldSize(), key);
    }
}
