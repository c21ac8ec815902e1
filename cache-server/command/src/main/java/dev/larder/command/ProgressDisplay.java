package dev.larder.command;

import dev.larder.posix.Posix;
import dev.larder.protocol.Progress;
import dev.larder.protocol.ProgressListener;
import java.io.PrintWriter;
import java.util.Locale;

/** Shows on standard error how far a request is: a bar on a terminal, lines elsewhere. Closing it ends the display. */
interface ProgressDisplay extends ProgressListener, AutoCloseable {
    /** The descriptor of standard error. */
    int STANDARD_ERROR = 2;

    /** Chooses by where standard error leads. */
    static ProgressDisplay on(PrintWriter err) {
        return Posix.system().isTerminal(STANDARD_ERROR) ? new ProgressOnTerminal(err) : new ProgressLines(err);
    }

    @Override
    void close();

    /** Says in a few words what the daemon is doing. */
    static String describe(Progress progress) {
        String phase = progress.phase() == Progress.Phase.OTHER
                ? "working"
                : progress.phase().name().toLowerCase(Locale.ROOT);
        return progress.name().isEmpty() ? phase : phase + " " + progress.name();
    }
}
