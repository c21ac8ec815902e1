package dev.larder.loader;

import dev.larder.internal.posix.Posix;
import dev.larder.loader.internal.plan.Plan;
import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Shows the progress of an epoch. For the consuming thread. */
final class EpochProgress {
    private static final long REDRAW_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long LINE_NS = TimeUnit.SECONDS.toNanos(10);

    private static final int STANDARD_ERROR = 2;

    private final Plan plan;
    private final PrintStream target;
    private final boolean redraws;
    private final long start = System.nanoTime();
    private long shown = start;
    private long samples;

    EpochProgress(Plan plan, PrintStream target) {
        this.plan = plan;
        this.target = target;
        this.redraws = Posix.system().isTerminal(STANDARD_ERROR);
    }

    /** Counts a batch that was delivered. */
    void delivered(long batches, int size) {
        samples += size;
        long now = System.nanoTime();
        boolean last = batches == plan.batches();
        if (last || now - shown >= (redraws ? REDRAW_NS : LINE_NS)) {
            shown = now;
            String line = line(batches, (now - start) / 1e9);
            if (redraws) {
                target.print("\r" + line + "\u001b[K" + (last ? System.lineSeparator() : ""));
                target.flush();
            } else {
                target.println(line);
            }
        }
    }

    private String line(long batches, double seconds) {
        double rate = batches / Math.max(seconds, 1e-9);
        return String.format(
                Locale.ROOT,
                "epoch %d: %d of %d batches (%d %%), %.0f samples/s, %.0f s left",
                plan.epoch(),
                batches,
                plan.batches(),
                100 * batches / plan.batches(),
                samples / Math.max(seconds, 1e-9),
                (plan.batches() - batches) / rate);
    }
}
