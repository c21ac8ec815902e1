package dev.larder.server.metrics;

import java.time.Duration;
import java.util.List;

/** A histogram of the times that clients waited for datasets that were not resident, among the counters. */
public final class WaitTimes {
    /** The bars of the histogram. The last one has no upper limit. */
    public static final List<Bar> BARS = List.of(
            new Bar(Duration.ofMillis(10), Counter.WAITS_TO_10_MS),
            new Bar(Duration.ofMillis(100), Counter.WAITS_TO_100_MS),
            new Bar(Duration.ofSeconds(1), Counter.WAITS_TO_1_S),
            new Bar(Duration.ofSeconds(10), Counter.WAITS_TO_10_S),
            new Bar(Duration.ofMinutes(1), Counter.WAITS_TO_1_MIN),
            new Bar(Duration.ofMinutes(10), Counter.WAITS_TO_10_MIN),
            new Bar(Duration.ofSeconds(Long.MAX_VALUE), Counter.WAITS_LONGER));

    private static final long NANOS_PER_MICRO = 1_000;

    private WaitTimes() {}

    /** One bar: waits up to {@code limit}, above that of the bar before. */
    public record Bar(Duration limit, Counter counter) {
        /** Returns the limit in seconds, infinite for the last bar. */
        public double limitSeconds() {
            return counter == Counter.WAITS_LONGER ? Double.POSITIVE_INFINITY : limit.toMillis() / 1000.0;
        }
    }

    /** Counts one wait. */
    public static void record(Counters counters, Duration wait) {
        counters.add(Counter.WAIT_MICROS, wait.toNanos() / NANOS_PER_MICRO);
        for (Bar bar : BARS) {
            if (wait.compareTo(bar.limit()) <= 0) {
                counters.increment(bar.counter());
                return;
            }
        }
    }
}
