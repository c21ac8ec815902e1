package dev.larder.launch.process;

/** What somebody asks of a launch while it runs; it can only become more urgent. */
final class StopRequest {
    /** How ranks are asked to end, from not at all to at once. */
    enum Kind {
        NONE,
        INTERRUPT,
        TERMINATE,
        KILL
    }

    private Kind kind = Kind.NONE;
    private Runnable waker = () -> {};

    synchronized void ask(Kind asked) {
        if (asked.compareTo(kind) > 0) {
            kind = asked;
            waker.run();
        }
    }

    synchronized void wakeBy(Runnable newWaker) {
        waker = newWaker;
    }

    synchronized Kind kind() {
        return kind;
    }

    boolean isAsked() {
        return kind() != Kind.NONE;
    }
}
