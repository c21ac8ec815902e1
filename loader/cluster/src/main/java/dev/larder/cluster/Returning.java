package dev.larder.cluster;

import dev.larder.cluster.Objections.Objection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Nodes that came although other nodes have their places: the same machine again, whose connection broke without a word, or a launcher
 * more than the run has nodes. A node that is alive sends a sign of life soon, and the caller is refused. A silent one is replaced by its
 * own machine after a few signs of life; any other caller waits until the node counts as lost. For the leader's thread.
 */
final class Returning {
    /** So many signs of life may be late. */
    private static final int PATIENCE = 2;

    private final List<Caller> callers = new ArrayList<>();
    private final long patienceNanos;

    /** One of them, and since when it waits. */
    private record Caller(Member member, long sinceNanos) {}

    /** Says what speaks against a node now. */
    interface Objecting {
        /** Returns null for nothing. */
        @Nullable
        Objection to(Member caller);
    }

    Returning(Duration heartbeat) {
        this.patienceNanos = heartbeat.multipliedBy(PATIENCE).toNanos();
    }

    void add(Member caller) {
        callers.add(new Caller(caller, System.nanoTime()));
    }

    void remove(Member caller) {
        callers.removeIf(waiting -> waiting.member == caller);
    }

    /** Returns how long it may take until something is to be decided. */
    long nextNanos() {
        return callers.isEmpty() ? Long.MAX_VALUE : Math.max(1, patienceNanos / 10);
    }

    /**
     * Decides of those of whom that can be known now.
     *
     * @param objections what speaks against a node now
     * @param lose told of who has been replaced
     * @param seat told of who takes its place
     * @param refuse told of who has to go, and why
     * @return whether a member was lost or seated
     */
    boolean settle(
            Objecting objections, Consumer<Member> lose, Consumer<Member> seat, BiConsumer<Member, String> refuse) {
        boolean isSettled = false;
        for (Caller caller : List.copyOf(callers)) {
            Objection objection = objections.to(caller.member);
            Member rival = objection == null ? null : objection.rival();
            if (objection != null && rival != null && objection.isReplacedAfter(patienceNanos)) {
                isSettled = true;
                lose.accept(rival); // and another look, as it may have had another rival too
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
