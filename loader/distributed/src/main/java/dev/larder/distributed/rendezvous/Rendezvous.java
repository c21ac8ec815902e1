package dev.larder.distributed.rendezvous;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Brings the ranks of one run together, and gives them a key that no other run and no other attempt has.
 *
 * <ul>
 *   <li>{@code env://} takes all from the environment that {@code larder launch} and {@code torchrun} make, and asks nobody
 *       there; under other launchers it meets by TCP at MASTER_ADDR and MASTER_PORT. Ranks may be on several nodes: then
 *       LOCAL_WORLD_SIZE is below WORLD_SIZE, GROUP_RANK and GROUP_WORLD_SIZE number the nodes, and off loopback all of them need
 *       the run's secret in {@value RunSecret#VARIABLE}.
 *   <li>{@code tcp://HOST:PORT?rank=R&world_size=N}: rank 0 listens, the others come to it. HOST is this machine.
 *   <li>{@code file:///PATH?rank=R&world_size=N}: the first that comes creates the file, the last that leaves removes it. What
 *       a job that was killed left behind is recognised and taken over.
 * </ul>
 *
 * <p>{@code &job=NAME} tells jobs apart that share an address by mistake; a launcher's run does so by itself. Every call ends
 * by its deadline, whose failure names the ranks that did not come, and ends early when its thread is interrupted.
 */
public final class Rendezvous {
    private static final String SEVERAL_MACHINES =
            "start all ranks on this machine, at 127.0.0.1; those of several machines meet at env://, as larder launch"
                    + " --nnodes or torchrun set it";

    private Rendezvous() {}

    /** Meets the other ranks at an address that names rank and world size, or takes them from the environment. */
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
        }
        if (url.scheme().equals(MeetingUrl.TCP)) {
            return meetByTcp(Endpoint.of(url), url.seat(environment), deadline);
        }
        if (!url.place().startsWith("/") || url.place().endsWith("/")) {
            throw url.badPlace("not the absolute path of a file");
        }
        RankSeat seat = url.seat(environment);
        return new FileMeeting(Path.of(url.place()), seat, deadline).meet();
    }

    private static RendezvousResult meetByEnvironment(
            MeetingUrl url, Map<String, String> environment, Deadline deadline) {
        if (!url.place().isEmpty()) {
            throw url.badPlace("env:// names no place");
        }
        LaunchVariables variables = LaunchVariables.read(url, environment);
        String job = url.job(environment);
        if (!LaunchVariables.job(environment).isEmpty()) {
            return variables.met(Keys.text(Keys.digest(List.of(LaunchVariables.job(environment), job))));
        }
        Endpoint place = new Endpoint(variables.masterAddress(), variables.masterPort());
        if (variables.nodes() == 1) {
            place.requireHere(url.text());
        }
        RunSecret secret = RunSecret.ofEnvironment(environment);
        RankSeat seat = new RankSeat(variables.rank(), variables.worldSize(), job, secret, "");
        return variables.met(meetByTcp(place, seat, deadline).key());
    }

    private static RendezvousResult meetByTcp(Endpoint place, RankSeat seat, Deadline deadline) {
        place.requireSecret(seat.secret());
        if (seat.worldSize() == 1) {
            return RendezvousResult.onOneMachine(seat, Keys.text(Keys.random()));
        }
        return seat.rank() == 0 ? TcpHost.meet(place, seat, deadline) : TcpClient.meet(place, seat, deadline);
    }

    /** Tells where the leaders of the nodes of this run meet, as the environment says. */
    static LaunchVariables variables(Map<String, String> environment) {
        return LaunchVariables.read(MeetingUrl.parse("env://"), environment);
    }

    static LarderException severalMachines(String what, Object value) {
        return Failure.of(ErrorCode.REFUSED, "ranks on another machine")
                .with(what, value)
                .remedy(SEVERAL_MACHINES);
    }
}
