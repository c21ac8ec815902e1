package dev.larder.cluster;

import dev.larder.cluster.AdmissionRules.Objection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Callers that come for the place of another node: the same machine again after its connection broke, or one launcher more than the run has nodes. If
 * the other node sends a sign of life, the caller is refused. If it is silent, its own machine replaces it after a few missing signs, and
 * any other caller waits until the node is lost. For the leader's thread.
 */
final class ContestedCallers {
    /** The number of signs of life that may be late. */
    private static final int PATIENCE = 2;

    private final List<Caller> callers = new ArrayList<>();
    private final long patienceNanos;

    /** A caller, and the begin of its wait. */
    private record Caller(RunNode member, long sinceNanos) {}

    /** Checks the rules for a caller as they are now. */
    interface Rules {
        /** Returns the objection, or null. */
        @Nullable
        Objection objectionTo(RunNode caller);
    }

    ContestedCallers(Duration heartbeat) {
        this.patienceNanos = heartbeat.multipliedBy(PATIENCE).toNanos();
    }

    void add(RunNode caller) {
        callers.add(new Caller(caller, System.nanoTime()));
    }

    void remove(RunNode caller) {
        callers.removeIf(waiting -> waiting.member == caller);
    }

    List<RunNode> callers() {
        return callers.stream().map(Caller::member).toList();
    }

    /** Returns the time until the next decision. */
    long nextNanos() {
        return callers.isEmpty() ? Long.MAX_VALUE : Math.max(1, patienceNanos / 10);
    }

    /**
     * Admits or refuses callers, if their rivals have been silent for long enough, or have sent a sign of life.
     *
     * @param rules returns the objection to a caller
     * @param lose receives a node that is replaced
     * @param seat receives a caller that is admitted
     * @param refuse receives a caller that is refused, and the reason
     * @return whether a member was lost or seated
     */
    boolean settle(Rules rules, Consumer<RunNode> lose, Consumer<RunNode> seat, BiConsumer<RunNode, String> refuse) {
        boolean isSettled = false;
        for (Caller caller : List.copyOf(callers)) {
            Objection objection = rules.objectionTo(caller.member);
            RunNode rival = objection == null ? null : objection.rival();
            if (objection != null && rival != null && objection.isReplacedAfter(patienceNanos)) {
                isSettled = true;
                lose.accept(rival); // the next check may find another rival
            } else if (objection == null) {
                isSettled = callers.remove(caller);
                seat.accept(caller.member);
            } else if (rival == null || rival.heardNanos() - caller.sinceNanos > 0) {
                callers.remove(caller);
                refuse.accept(caller.member, objection.text());
            }
        }
        return isSettled;
    }
}
