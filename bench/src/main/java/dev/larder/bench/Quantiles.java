package dev.larder.bench;

import java.util.Collection;
import java.util.Locale;

/** Times in milliseconds, by how many of a hundred are below. */
public record Quantiles(long count, double p50Ms, double p99Ms, double maxMs) {
    public static Quantiles of(Collection<Long> nanos) {
        long[] sorted = nanos.stream().mapToLong(Long::longValue).sorted().toArray();
        return new Quantiles(sorted.length, at(sorted, 50), at(sorted, 99), at(sorted, 100));
    }

    private static double at(long[] sorted, int percent) {
        int index = Math.min(sorted.length - 1, (int) ((long) sorted.length * percent / 100));
        return sorted.length == 0 ? 0 : sorted[index] / 1e6;
    }

    /** Writes them as a line of JSON. */
    public String json() {
        return String.format(
                Locale.ROOT,
                "{\"count\": %d, \"p50Ms\": %.4f, \"p99Ms\": %.4f, \"maxMs\": %.4f}",
                count,
                p50Ms,
                p99Ms,
                maxMs);
    }
}
