package dev.larder.command.terminal;

import dev.larder.command.output.Outcome;
import dev.larder.command.output.Rate;
import dev.larder.command.output.Units;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.function.LongSupplier;

/** Prints a line for each new phase and message, and in long phases one every few seconds if there is progress. */
final class ProgressLines implements ProgressDisplay {
    private static final long INTERVAL_NANOS = Duration.ofSeconds(5).toNanos();

    private final PrintWriter err;
    private final LongSupplier nanoClock;
    private final Rate rate;
    private String lastPhase = "";
    private long phaseBegan;
    private long lastPrinted;
    private String lastMessage = "";
    private String lastLine = "";

    ProgressLines(PrintWriter err) {
        this(err, System::nanoTime);
    }

    ProgressLines(PrintWriter err, LongSupplier nanoClock) {
        this.err = err;
        this.nanoClock = nanoClock;
        this.rate = new Rate(nanoClock);
    }

    @Override
    public void progress(Progress progress) {
        long now = nanoClock.getAsLong();
        rate.update(progress);
        boolean newPhase = !ProgressDisplay.phase(progress).equals(lastPhase);
        if (newPhase) {
            lastPhase = ProgressDisplay.phase(progress);
            phaseBegan = now;
        }
        if (!progress.message().isEmpty() && !progress.message().equals(lastMessage)) {
            lastMessage = progress.message();
            err.println("larder: " + lastMessage);
        }
        if (newPhase || now - lastPrinted >= INTERVAL_NANOS) {
            lastPrinted = now;
            String line = ProgressDisplay.describe(progress) + amounts(progress, now - phaseBegan);
            if (!line.equals(lastLine)) { // unchanged, for example while a server does not respond
                lastLine = line;
                err.println("larder: " + line);
            }
        }
    }

    @Override
    public void done(Done done) {
        Outcome.note(done, err);
    }

    @Override
    public void close() {
        err.flush();
    }

    private String amounts(Progress progress, long nanos) {
        if (progress.bytesTotal() <= 0) {
            return progress.bytesDone() > 0 ? ": " + Units.size(progress.bytesDone()) : found(progress);
        }
        String amounts = String.format(
                Locale.ROOT,
                ": %s of %s (%d %%)",
                Units.size(progress.bytesDone()),
                Units.size(progress.bytesTotal()),
                percent(progress));
        if (nanos < Duration.ofSeconds(1).toNanos()) {
            return amounts;
        }
        String files = progress.filesTotal() > 1
                ? ", " + progress.filesDone() + " of " + progress.filesTotal() + " files"
                : "";
        double eta = rate.etaSeconds();
        String left = eta < 0 ? "" : ", " + Units.duration(Duration.ofMillis((long) (eta * 1000))) + " left";
        return amounts + files + ", " + Units.size((long) rate.bytesPerSecond()) + "/s" + left;
    }

    private static String found(Progress progress) {
        return progress.filesDone() > 0 ? ": " + progress.filesDone() + " files" : "";
    }

    private static long percent(Progress progress) {
        return (long) (100.0 * progress.bytesDone() / progress.bytesTotal());
    }
}
