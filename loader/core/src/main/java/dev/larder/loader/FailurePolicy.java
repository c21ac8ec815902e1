package dev.larder.loader;

/**
 * The action for a sample that cannot be read or transformed. Failures of the sampler, a closed dataset and a JVM without memory always
 * end the epoch.
 *
 * @param retries the number of retries before any other action, after 1 ms, then 2, 4, … up to 100 ms
 * @param maxSkipped the most samples of an epoch that are then skipped; the next one fails
 */
public record FailurePolicy(int retries, long maxSkipped) {
    /** Checks that both are counts. */
    public FailurePolicy {
        if (retries < 0 || maxSkipped < 0) {
            throw new IllegalArgumentException(
                    "counts must not be negative: retries=" + retries + " maxSkipped=" + maxSkipped);
        }
    }

    /** Fails the batch, and the epoch with it: the default. */
    public static FailurePolicy fail() {
        return new FailurePolicy(0, 0);
    }

    /** Skips the sample: its batch is smaller. {@link LoaderStats#skippedSamples} counts them. */
    public static FailurePolicy skip(long maxPerEpoch) {
        return new FailurePolicy(0, maxPerEpoch);
    }

    /** Retries, then fails. */
    public static FailurePolicy retry(int times) {
        return new FailurePolicy(times, 0);
    }

    /** Returns a policy that skips samples after the retries. */
    public FailurePolicy thenSkip(long maxPerEpoch) {
        return new FailurePolicy(retries, maxPerEpoch);
    }
}
