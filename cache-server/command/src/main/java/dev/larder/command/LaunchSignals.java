package dev.larder.command;

import dev.larder.distributed.process.Launcher;
import dev.larder.posix.Posix;
import java.io.PrintWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Ends a launch on Ctrl-C, SIGTERM, when the terminal goes away, or when nobody reads what the ranks say any more. Ranks have
 * sessions of their own, so that the terminal's Ctrl-C reaches this process alone. Once asks the ranks to end, twice kills them,
 * three times ends this process whatever it waits for.
 */
final class LaunchSignals {
    private static final int INTERRUPTED = 130;
    private static final int TERMINATED = 143;
    private static final int HUNG_UP = 129;
    private static final int PIPE_BROKEN = 141;

    private final PrintWriter err;
    private @Nullable Launcher launcher;
    private int exitCode;
    private int asked;

    private LaunchSignals(PrintWriter err) {
        this.err = err;
    }

    /** Takes the signals over; one that arrives before there is a launch stops it as soon as there is. */
    static LaunchSignals install(PrintWriter err) {
        LaunchSignals signals = new LaunchSignals(err);
        Posix.system().acceptInterrupts();
        List.of(Signals.INTERRUPT, Signals.TERMINATE, Signals.HANG_UP)
                .forEach(name -> Signals.handle(name, signals::handle));
        return signals;
    }

    /** Names the launch that signals stop. */
    synchronized void stop(Launcher started) {
        launcher = started;
        askAgain();
    }

    /** Stops the ranks, as nobody reads what they say. */
    synchronized void pipeIsBroken() {
        if (exitCode == 0) {
            exitCode = PIPE_BROKEN;
            asked = 1;
            askAgain();
        }
    }

    /** Returns the exit code that whatever stopped the launch asks for; 0 where nothing did. */
    synchronized int exitCode() {
        return exitCode;
    }

    private synchronized void handle(String name) {
        asked++;
        if (exitCode == 0) {
            exitCode = name.equals(Signals.INTERRUPT)
                    ? INTERRUPTED
                    : name.equals(Signals.TERMINATE) ? TERMINATED : HUNG_UP;
        }
        if (asked == 1) {
            err.println("larder: SIG" + name + ": asking the ranks to end; again to kill them");
        } else if (asked == 2) {
            err.println("larder: SIG" + name + ": killing the ranks");
        } else {
            Runtime.getRuntime().halt(exitCode); // standard output may be stuck; guardians see to the ranks
        }
        askAgain();
    }

    private void askAgain() {
        Launcher running = launcher;
        if (running == null || asked == 0) {
            return;
        }
        if (asked > 1) {
            running.kill();
        } else if (exitCode == INTERRUPTED) {
            running.interrupt();
        } else {
            running.terminate();
        }
    }
}
