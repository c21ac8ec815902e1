package dev.larder.loader;

/**
 * Decides what happens to a sample that cannot be read or transformed. Whatever it says, failures of the sampler, a closed dataset
 * and a JVM that ran out of memory end the epoch.
 *
 * @param retries how often it is tried again before anything else happens, after 1 ms, then 2, 4, … up to 100 ms
 * @param maxSkipped how many samples of an epoch may then be left out; the next one fails
 */
public record FailurePolicy(int retries, long maxSkipped) {
    /** Checks that both are counts. */
    public FailurePolicy {
        if (retries < 0 || maxSkipped < 0) {
            throw new IllegalArgumentException(
                    "counts must not be negative: retries=" + retries + " maxSkipped=" + maxSkipped);
        }
    }

    /** Fails the batch at once, and the epoch with it: the default. */
    public static FailurePolicy fail() {
        return new FailurePolicy(0, 0);
    }

    /** Leaves the sample out: its batch is shorter. {@link LoaderStats#skippedSamples} counts them. */
    public static FailurePolicy skip(long maxPerEpoch) {
        return new FailurePolicy(0, maxPerEpoch);
    }

    /** Tries again, so many times, then fails. */
    public static FailurePolicy retry(int times) {
        return new FailurePolicy(times, 0);
    }

    /** Returns one that leaves samples out when trying again was in vain. */
    public FailurePolicy thenSkip(long maxPerEpoch) {
        return new FailurePolicy(retries, maxPerEpoch);
    }
}
