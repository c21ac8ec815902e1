package dev.larder.launch.process;

import java.util.ArrayList;
import java.util.List;

/** Requests to a running launch: to end, which can only become more urgent, and to forward signals. */
final class StopRequest {
    /** The kinds of requests to end, in the order of urgency. */
    enum Kind {
        NONE,
        INTERRUPT,
        TERMINATE,
        KILL
    }

    private Kind kind = Kind.NONE;
    private final List<String> signals = new ArrayList<>();
    private Runnable waker = () -> {};

    synchronized void ask(Kind asked) {
        if (asked.compareTo(kind) > 0) {
            kind = asked;
            waker.run();
        }
    }

    synchronized void signal(String name) {
        signals.add(name);
        waker.run();
    }

    /** Sets the ranks to wake. They get no earlier signals. */
    synchronized void wakeBy(Runnable newWaker) {
        signals.clear();
        waker = newWaker;
    }

    /** Returns and removes the signals to forward. */
    synchronized List<String> takeSignals() {
        List<String> taken = List.copyOf(signals);
        signals.clear();
        return taken;
    }

    synchronized Kind kind() {
        return kind;
    }

    boolean isAsked() {
        return kind() != Kind.NONE;
    }
}
