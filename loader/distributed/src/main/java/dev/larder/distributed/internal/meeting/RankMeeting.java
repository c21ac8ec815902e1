package dev.larder.distributed.internal.meeting;

import dev.larder.internal.time.Deadline;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Brings the ranks of a run together: each call waits for all of them, and returns the key of the meeting. */
public final class RankMeeting {
    private RankMeeting() {}

    /** Derives the key from the run that the launcher has named, or else meets by TCP at the launcher's address. */
    public static String byEnvironment(
            LaunchVariables variables, MeetingUrl url, Map<String, String> environment, Deadline deadline) {
        String job = url.job(environment);
        String run = LaunchVariables.job(environment);
        if (!run.isEmpty()) {
            return Keys.text(Keys.digest(List.of(run, job)));
        }
        Endpoint place = variables.master();
        if (variables.nodes() == 1) {
            place.requireHere(url.text());
        }
        RunSecret secret = RunSecret.ofEnvironment(environment);
        return byTcp(place, new RankSeat(variables.rank(), variables.worldSize(), job, secret, ""), deadline);
    }

    /** Meets by TCP: rank 0 listens at the place. */
    public static String byTcp(Endpoint place, RankSeat seat, Deadline deadline) {
        place.requireSecret(seat.secret());
        if (seat.worldSize() == 1) {
            return Keys.text(Keys.random());
        }
        return seat.rank() == 0 ? MeetingHost.meet(place, seat, deadline) : MeetingGuest.meet(place, seat, deadline);
    }

    /** Meets by a file, which the first rank creates and the last one removes. */
    public static String byFile(Path file, RankSeat seat, Deadline deadline) {
        return new FileMeeting(file, seat, deadline).meet();
    }
}
