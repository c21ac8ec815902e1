package dev.larder.command.terminal;

import dev.larder.error.LarderException;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import java.io.PrintWriter;
import java.util.Locale;

/**
 * Shows on standard error how far a request is: a bar on a terminal, lines elsewhere, JSON where it is asked for. Closing it ends
 * the display.
 */
public interface ProgressDisplay extends ProgressListener, AutoCloseable {
    /** The descriptor of standard error. */
    int STANDARD_ERROR = 2;

    /** Chooses by where standard error leads. */
    static ProgressDisplay on(PrintWriter err) {
        return on(err, false);
    }

    /** Chooses JSON where it is asked for, else by where standard error leads. */
    static ProgressDisplay on(PrintWriter err, boolean json) {
        if (json) {
            return new ProgressEvents(err);
        }
        return Posix.system().isTerminal(STANDARD_ERROR) ? new ProgressOnTerminal(err) : new ProgressLines(err);
    }

    /** Shows the end of a request that succeeded. */
    void done(Done done);

    /** Shows the end of a request that failed; false where that is left to the command. */
    default boolean problem(LarderException failure) {
        return false;
    }

    @Override
    void close();

    /** Says in a few words what the daemon is doing. */
    static String describe(Progress progress) {
        String phase = phase(progress);
        return progress.name().isEmpty() ? phase : phase + " " + progress.name();
    }

    /** Returns the word for what the daemon is doing. */
    static String phase(Progress progress) {
        return progress.phase() == Progress.Phase.OTHER
                ? "working"
                : progress.phase().name().toLowerCase(Locale.ROOT);
    }
}
