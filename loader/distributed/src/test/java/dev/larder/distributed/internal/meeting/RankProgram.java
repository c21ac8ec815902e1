package dev.larder.distributed.internal.meeting;

import dev.larder.distributed.rendezvous.Rendezvous;
import dev.larder.distributed.rendezvous.RendezvousResult;
import dev.larder.error.LarderException;
import java.time.Duration;

/** A rank of its own JVM: meets the others, says how that went, and ends; badly in a first attempt, if told so. */
final class RankProgram {
    private RankProgram() {}

    public static void main(String[] arguments) {
        System.out.println("going");
        try {
            RendezvousResult meeting = Rendezvous.meet(arguments[0], Duration.ofSeconds(20));
            System.out.println("met " + meeting.key());
        } catch (LarderException e) {
            System.out.println("failed " + e.getMessage());
        }
        if (arguments.length > 1 && "0".equals(System.getenv("LARDER_ATTEMPT"))) {
            System.exit(1);
        }
    }
}
