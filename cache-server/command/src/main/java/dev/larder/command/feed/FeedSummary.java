package dev.larder.command.feed;

import dev.larder.command.output.JsonFields;
import java.time.Duration;
import java.util.Locale;

/**
 * The totals of a feed.
 *
 * @param epochs the complete epochs
 * @param skipped rows that could not be read or transformed
 * @param time the time since the first batch
 */
public record FeedSummary(long epochs, long batches, long rows, long skipped, Duration time) {
    private double perSecond() {
        return batches / Math.max(time.toNanos() / 1e9, 1e-9);
    }

    /** Returns it in one line. */
    public String inWords() {
        return String.format(
                Locale.ROOT,
                "epochs=%d batches=%d rows=%d%s (%.1f batches/s)",
                epochs,
                batches,
                rows,
                skipped == 0 ? "" : " skipped=" + skipped,
                perSecond());
    }

    /** Adds it to a JSON object. */
    public JsonFields addTo(JsonFields fields) {
        return fields.with("epochs", epochs)
                .with("batches", batches)
                .with("rows", rows)
                .with("skipped", skipped)
                .with("seconds", time.toMillis() / 1000.0)
                .with("batchesPerSecond", Math.round(perSecond() * 10) / 10.0);
    }
}
