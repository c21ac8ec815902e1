package dev.larder.internal.protocol;

/** Carries the stack trace of a failure in the daemon, so that the client's trace includes it. */
final class DaemonTrace extends Exception {
    private static final long serialVersionUID = 1;

    DaemonTrace(String trace) {
        super("in the daemon: " + trace, null, false, false);
    }
}
