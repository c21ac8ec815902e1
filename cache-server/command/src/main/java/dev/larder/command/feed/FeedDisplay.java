package dev.larder.command.feed;

import dev.larder.command.output.FeedRow;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Shows the progress of a feed on standard error: in one line that changes on a terminal, in occasional lines elsewhere. */
final class FeedDisplay implements AutoCloseable {
    private static final long REDRAW_NANOS = Duration.ofMillis(200).toNanos();
    private static final long LINE_NANOS = Duration.ofSeconds(10).toNanos();
    private static final String ERASE_LINE = "\r\u001b[K";

    private final PrintWriter err;
    private final boolean redraws;
    private @Nullable FeedRow shown;

    FeedDisplay(PrintWriter err, boolean redraws) {
        this.err = err;
        this.redraws = redraws;
    }

    /** Shows a sample of the feed. */
    void show(FeedRow now, long batchesOfEpoch) {
        FeedRow before = shown;
        if (now.epoch().isEmpty()
                || (before != null && now.nanos() - before.nanos() < (redraws ? REDRAW_NANOS : LINE_NANOS))) {
            return;
        }
        shown = now;
        String line = String.format(
                Locale.ROOT,
                "larder: feed %s: epoch %d: %d of %d batches, %sconsumers: %s",
                now.name(),
                now.epoch().getAsLong(),
                now.number() + 1,
                batchesOfEpoch,
                before == null ? "" : String.format(Locale.ROOT, "%.1f batches/s, ", now.perSecond(before)),
                now.consumersInWords());
        if (redraws) {
            err.print(ERASE_LINE + line);
            err.flush();
        } else {
            err.println(line);
        }
    }

    @Override
    public void close() {
        if (redraws && shown != null) {
            err.print(ERASE_LINE);
            err.flush();
        }
    }
}
