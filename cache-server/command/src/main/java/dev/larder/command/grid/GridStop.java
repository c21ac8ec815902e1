package dev.larder.command.grid;

import dev.larder.command.signal.Notice;
import dev.larder.command.signal.Signals;
import dev.larder.command.signal.StopCount;
import dev.larder.launch.grid.GridRun;

/**
 * Stops a grid on Ctrl-C, SIGTERM, or when the terminal closes. The first signal ends jobs, the second kills them, and the third ends this
 * process immediately; see {@link StopCount} for signals that count.
 */
public final class GridStop {
    private static final int INTERRUPTED = 130;

    private final GridRun run;
    private final GridDisplay display;
    private final StopCount stops = new StopCount(System::nanoTime);

    private GridStop(GridRun run, GridDisplay display) {
        this.run = run;
        this.display = display;
    }

    /** Handles the signals from now on. */
    public static GridStop install(GridRun run, GridDisplay display) {
        GridStop stop = new GridStop(run, display);
        Signals.handleStops(stop::handle);
        Signals.handleNotices(run::signal);
        return stop;
    }

    private void handle(String name) {
        int asked = stops.add(name);
        if (asked > 2) {
            Runtime.getRuntime().halt(INTERRUPTED); // standard error may be stuck; guardians end the jobs
        } else if (asked == 2) {
            try {
                say("killing the running jobs");
            } finally {
                run.kill(); // waits until they are gone
            }
        } else if (asked == 1) {
            run.stop();
            say("stopping: running jobs are asked to end; Ctrl-C again kills them");
        }
    }

    private void say(String text) {
        Notice.say(() -> display.note(text));
    }

    /** Returns whether there was a signal. */
    public boolean isAsked() {
        return stops.asked() > 0;
    }
}
