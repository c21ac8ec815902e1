package dev.larder.command.terminal;

import dev.larder.error.LarderException;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import java.io.PrintWriter;
import java.util.Locale;

/**
 * Shows the progress of a request on standard error: a bar on a terminal, lines elsewhere, or JSON if requested. Closing it ends
 * the display.
 */
public interface ProgressDisplay extends ProgressListener, AutoCloseable {
    /** The descriptor of standard error. */
    int STANDARD_ERROR = 2;

    /** Returns a bar if standard error is a terminal, else lines. */
    static ProgressDisplay on(PrintWriter err) {
        return on(err, false);
    }

    /** Returns JSON if requested, else a bar if standard error is a terminal, else lines. */
    static ProgressDisplay on(PrintWriter err, boolean json) {
        if (json) {
            return new ProgressEvents(err);
        }
        return Posix.system().isTerminal(STANDARD_ERROR) ? new ProgressOnTerminal(err) : new ProgressLines(err);
    }

    /** Returns a display that shows nothing. */
    static ProgressDisplay none() {
        return new ProgressDisplay() {
            @Override
            public void progress(Progress progress) {}

            @Override
            public void done(Done done) {}

            @Override
            public void close() {}
        };
    }

    /** Shows the end of a request that succeeded. */
    void done(Done done);

    /** Shows the failure of a request. Returns false if the command has to show it. */
    default boolean problem(LarderException failure) {
        return false;
    }

    @Override
    void close();

    /** Describes the daemon's work in a few words. */
    static String describe(Progress progress) {
        String phase = phase(progress);
        return progress.name().isEmpty() ? phase : phase + " " + progress.name();
    }

    /** Returns the word for the phase of the daemon's work. */
    static String phase(Progress progress) {
        return progress.phase() == Progress.Phase.OTHER
                ? "working"
                : progress.phase().name().toLowerCase(Locale.ROOT);
    }
}
