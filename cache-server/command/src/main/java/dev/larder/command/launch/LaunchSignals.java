package dev.larder.command.launch;

import dev.larder.command.signal.Notice;
import dev.larder.command.signal.Signals;
import dev.larder.command.signal.StopCount;
import dev.larder.launch.process.RunningRanks;
import java.io.PrintWriter;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Ends a launch on Ctrl-C, SIGTERM, when the terminal closes, or when the reader of its output is gone. Ranks have sessions of their own,
 * so the terminal's Ctrl-C reaches this process only. The first signal ends the ranks, the second kills them, and the third ends this
 * process immediately; see {@link StopCount} for signals that count.
 */
public final class LaunchSignals {
    private static final int INTERRUPTED = 130;
    private static final int TERMINATED = 143;
    private static final int HUNG_UP = 129;
    private static final int PIPE_BROKEN = 141;
    private static final String PIPE = "PIPE";

    private final PrintWriter err;
    private final StopCount stops = new StopCount(System::nanoTime);
    private final AtomicInteger exitCode = new AtomicInteger();
    private volatile @Nullable RunningRanks ranks;

    private LaunchSignals(PrintWriter err) {
        this.err = err;
    }

    /** Takes the signals over; one that arrives before there is a launch stops it as soon as there is. */
    public static LaunchSignals install(PrintWriter err) {
        LaunchSignals signals = new LaunchSignals(err);
        Signals.handleStops(signals::handle);
        Signals.handleNotices(signals::pass);
        return signals;
    }

    /** Names the launch that signals stop. */
    public void stop(RunningRanks started) {
        ranks = started;
        ask(stops.asked());
    }

    /** Sets the action for signals before the launch. */
    public void stop(Runnable end) {
        stop(new RunningRanks() {
            @Override
            public void interrupt() {
                end.run();
            }

            @Override
            public void terminate() {
                end.run();
            }

            @Override
            public void kill() {
                end.run();
            }
        });
    }

    /** Stops the ranks, because the reader of their output is gone. */
    void pipeIsBroken() {
        if (exitCode.compareAndSet(0, PIPE_BROKEN)) {
            ask(stops.add(PIPE));
        }
    }

    /** Returns the exit code for the signal that stopped the launch; 0 if there was none. */
    public int exitCode() {
        return exitCode.get();
    }

    private void pass(String name) {
        RunningRanks running = ranks;
        if (running != null) {
            running.signal(name);
        }
    }

    private void handle(String name) {
        exitCode.compareAndSet(
                0,
                name.equals(Signals.INTERRUPT) ? INTERRUPTED : name.equals(Signals.TERMINATE) ? TERMINATED : HUNG_UP);
        int asked = stops.add(name);
        if (asked > 2) {
            Runtime.getRuntime().halt(exitCode.get()); // standard output may be stuck; guardians see to the ranks
        }
        if (asked == 1) {
            say("SIG" + name + ": asking the ranks to end; again to kill them");
        } else if (asked == 2) {
            say("SIG" + name + ": killing the ranks");
        }
        ask(asked); // after the notice, as this process may end soon
    }

    private void say(String text) {
        Notice.say(() -> err.println("larder: " + text));
    }

    private void ask(int asked) {
        RunningRanks running = ranks;
        if (running == null || asked == 0) {
            return;
        }
        if (asked > 1) {
            running.kill();
        } else if (exitCode.get() == INTERRUPTED) {
            running.interrupt();
        } else if (exitCode.get() == HUNG_UP) {
            running.hangUp();
        } else {
            running.terminate();
        }
    }
}
