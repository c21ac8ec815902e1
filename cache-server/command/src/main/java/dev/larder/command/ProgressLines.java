package dev.larder.command;

import dev.larder.protocol.Progress;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Prints a line for each new phase and message, and in long phases one every few seconds. */
final class ProgressLines implements ProgressDisplay {
    private static final long INTERVAL_NANOS = Duration.ofSeconds(5).toNanos();

    private final PrintWriter err;
    private final LongSupplier nanoClock;
    private Progress.@Nullable Phase phase;
    private long phaseBegan;
    private long lastPrinted;
    private String lastMessage = "";

    ProgressLines(PrintWriter err) {
        this(err, System::nanoTime);
    }

    ProgressLines(PrintWriter err, LongSupplier nanoClock) {
        this.err = err;
        this.nanoClock = nanoClock;
    }

    @Override
    public void progress(Progress progress) {
        long now = nanoClock.getAsLong();
        boolean newPhase = progress.phase() != phase;
        if (newPhase) {
            phase = progress.phase();
            phaseBegan = now;
        }
        if (!progress.message().isEmpty() && !progress.message().equals(lastMessage)) {
            lastMessage = progress.message();
            err.println("larder: " + lastMessage);
        }
        if (newPhase || now - lastPrinted >= INTERVAL_NANOS) {
            lastPrinted = now;
            err.println("larder: " + ProgressDisplay.describe(progress) + amounts(progress, now - phaseBegan));
        }
    }

    @Override
    public void close() {
        err.flush();
    }

    private static String amounts(Progress progress, long nanos) {
        if (progress.bytesTotal() <= 0) {
            return progress.bytesDone() > 0 ? ": " + Units.size(progress.bytesDone()) : "";
        }
        String amounts = String.format(
                Locale.ROOT,
                ": %s of %s (%d %%)",
                Units.size(progress.bytesDone()),
                Units.size(progress.bytesTotal()),
                percent(progress));
        double seconds = nanos / 1e9;
        return seconds < 1 ? amounts : amounts + ", " + Units.size((long) (progress.bytesDone() / seconds)) + "/s";
    }

    private static long percent(Progress progress) {
        return (long) (100.0 * progress.bytesDone() / progress.bytesTotal());
    }
}
