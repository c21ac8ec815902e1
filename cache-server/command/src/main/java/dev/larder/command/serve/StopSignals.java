package dev.larder.command.serve;

import dev.larder.command.signal.Signals;
import dev.larder.server.Daemon;
import org.jspecify.annotations.Nullable;

/**
 * Stops the daemon on Ctrl-C, SIGTERM, or when the terminal is closed. The JDK runs every handler on a thread of its own, so a second
 * Ctrl-C is handled while the first still cleans up.
 */
public final class StopSignals {
    private static final int FORCED_EXIT_CODE = 130;

    private final boolean keep;
    private @Nullable Daemon daemon;
    private boolean stopping;

    private StopSignals(boolean keep) {
        this.keep = keep;
    }

    /** Installs the handlers. A signal that arrives before the daemon exists stops it as soon as it does. */
    public static StopSignals install(boolean keep) {
        StopSignals signals = new StopSignals(keep);
        Signals.handleStops(signals::handle);
        Signals.ignoreNotices();
        return signals;
    }

    /** Sets the daemon that signals stop; stops it if a signal has arrived already. */
    public void stop(Daemon started) {
        boolean late;
        synchronized (this) {
            daemon = started;
            late = stopping;
        }
        if (late) {
            started.stop(keep);
        }
    }

    /** Returns whether a signal has arrived. */
    public synchronized boolean isStopping() {
        return stopping;
    }

    private void handle(String name) {
        boolean again;
        Daemon toStop;
        synchronized (this) {
            again = stopping;
            stopping = true;
            toStop = daemon;
        }
        if (!again && toStop != null) {
            toStop.stop(keep);
        } else if (again && name.equals(Signals.INTERRUPT)) {
            Runtime.getRuntime().halt(FORCED_EXIT_CODE);
        }
    }
}
