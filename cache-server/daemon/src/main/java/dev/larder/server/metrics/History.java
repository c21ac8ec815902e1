package dev.larder.server.metrics;

import java.util.ArrayDeque;
import java.util.List;

/** The last samples of some figures. The charts of the status page begin with them. Thread-safe. */
public final class History {
    private static final int MOST = 600;

    private final ArrayDeque<Sample> samples = new ArrayDeque<>(MOST);

    /**
     * The figures at one moment.
     *
     * @param epochMs the time, in milliseconds since the epoch
     * @param hits requests for resident datasets since the start of the daemon
     * @param misses requests for datasets that were not resident, since the start of the daemon
     */
    public record Sample(long epochMs, long usedBytes, long leasedBytes, long hits, long misses) {}

    /** Adds a sample, and drops the oldest one if there are more than those of ten minutes. */
    public synchronized void add(Sample sample) {
        if (samples.size() == MOST) {
            samples.removeFirst();
        }
        samples.addLast(sample);
    }

    /** Returns the samples, the oldest first. */
    public synchronized List<Sample> samples() {
        return List.copyOf(samples);
    }
}
