package dev.larder.launch.process;

import java.util.ArrayList;
import java.util.List;

/** Requests to a launch while it runs: to end, which can only become more urgent, and to pass signals on. */
final class StopRequest {
    /** How ranks are asked to end, from not at all to at once. */
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

    /** Names the ranks to wake. Signals that came before are not for them. */
    synchronized void wakeBy(Runnable newWaker) {
        signals.clear();
        waker = newWaker;
    }

    /** Returns the signals to pass on, and forgets them. */
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
