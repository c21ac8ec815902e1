package dev.larder.loader;

import java.time.Duration;

/**
 * The work of a loader since it was built, and the times of its parts, summed over all gather threads.
 *
 * @param batches batches that were delivered
 * @param samples samples in these batches
 * @param bytes bytes of these batches
 * @param skippedSamples samples that were skipped, see {@link FailurePolicy}
 * @param elapsed from the start of the first epoch to the delivery of the last batch
 * @param openingDataset opening the dataset, including the wait for its load
 * @param planning looking up the rows of batches
 * @param gathering copying rows
 * @param transforming reading and transforming the rows of fields that are transformed
 * @param waitingForBatch the consumer waited for a batch: the loader is the bottleneck
 * @param waitingForConsumer gather threads waited for the consumer to close a batch: the consumer is the bottleneck
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
    /** Returns the batches per second. */
    public double batchesPerSecond() {
        return perSecond(batches);
    }

    /** Returns the bytes per second. */
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
