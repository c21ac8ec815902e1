package dev.larder.command.serve;

import dev.larder.command.signal.Signals;
import dev.larder.server.Daemon;
import org.jspecify.annotations.Nullable;

/**
 * Stops the daemon on Ctrl-C, SIGTERM, or when the terminal goes away. The JDK runs every handler in a thread of its own, so
 * that a second Ctrl-C is heard while the first still cleans up.
 */
public final class StopSignals {
    private static final int FORCED_EXIT_CODE = 130;

    private final boolean keep;
    private @Nullable Daemon daemon;
    private boolean stopping;

    private StopSignals(boolean keep) {
        this.keep = keep;
    }

    /** Takes the signals over; one that arrives before there is a daemon stops it as soon as there is. */
    public static StopSignals install(boolean keep) {
        StopSignals signals = new StopSignals(keep);
        Signals.handleStops(signals::handle);
        Signals.ignoreNotices();
        return signals;
    }

    /** Names the daemon that signals stop. A signal that crosses this call finds the daemon, or is found here. */
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

    /** Tells whether a signal has come. */
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
