package dev.larder.loader;

import java.time.Duration;

/**
 * The work of a loader since it was built, and where the time went. Times of several gather threads add up.
 *
 * @param batches batches that were delivered
 * @param samples samples in them
 * @param bytes bytes in them
 * @param skippedSamples samples that were left out, see {@link FailurePolicy}
 * @param elapsed from the begin of the first epoch to the last batch that was delivered
 * @param openingDataset how long it took to open the dataset, waiting for the cache to load it included
 * @param planning looking up which rows make up a batch
 * @param gathering copying rows
 * @param transforming reading and transforming the rows of fields that are transformed
 * @param waitingForBatch the consumer waited for a batch: the loader is what limits
 * @param waitingForConsumer gather threads waited for the consumer to close a batch: the consumer is what limits
 */
public record LoaderStats(
        long batches,
        long samples,
        long bytes,
        long skippedSamples,
        Duration elapsed,
        Duration openingDataset,
        Duration planning,
        Duration gathering,
        Duration transforming,
        Duration waitingForBatch,
        Duration waitingForConsumer) {
    /** Returns how many batches were delivered in a second. */
    public double batchesPerSecond() {
        return perSecond(batches);
    }

    /** Returns how many bytes were delivered in a second. */
    public double bytesPerSecond() {
        return perSecond(bytes);
    }

    private double perSecond(long count) {
        return elapsed.isZero() ? 0 : count * 1e9 / elapsed.toNanos();
    }

    @Override
    public String toString() {
        return String.format(
                java.util.Locale.ROOT,
                "%d batches, %.1f batches/s, %.1f MB/s, %d skipped; opening %d ms, planning %d ms, gathering %d ms, "
                        + "transforming %d ms, waiting for a batch %d ms, waiting for the consumer %d ms",
                batches,
                batchesPerSecond(),
                bytesPerSecond() / 1e6,
                skippedSamples,
                openingDataset.toMillis(),
                planning.toMillis(),
                gathering.toMillis(),
                transforming.toMillis(),
                waitingForBatch.toMillis(),
                waitingForConsumer.toMillis());
    }
}
