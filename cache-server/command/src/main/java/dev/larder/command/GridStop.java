package dev.larder.command;

import dev.larder.distributed.grid.GridRun;
import dev.larder.posix.Posix;
import java.util.List;

/** Stops a grid on Ctrl-C, SIGTERM, or when the terminal goes away: politely the first time, by force when asked again. */
final class GridStop {
    private final GridRun run;
    private final GridDisplay display;
    private boolean asked;

    private GridStop(GridRun run, GridDisplay display) {
        this.run = run;
        this.display = display;
    }

    /** Takes the signals over. */
    static GridStop install(GridRun run, GridDisplay display) {
        GridStop stop = new GridStop(run, display);
        Posix.system().acceptInterrupts();
        List.of(Signals.INTERRUPT, Signals.TERMINATE, Signals.HANG_UP)
                .forEach(name -> Signals.handle(name, stop::handle));
        return stop;
    }

    private void handle(String name) {
        boolean again;
        synchronized (this) {
            again = asked;
            asked = true;
        }
        if (again) {
            display.note("killing what still runs");
            run.kill();
        } else {
            display.note("stopping: jobs that run are asked to end; Ctrl-C again kills them");
            run.stop();
        }
    }

    /** Tells whether anybody asked. */
    synchronized boolean isAsked() {
        return asked;
    }
}
