package dev.larder.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;

/** Times in milliseconds: the median, the 99th percentile and the maximum. */
public record Quantiles(long count, double p50Ms, double p99Ms, double maxMs) {
    public static Quantiles of(Collection<Long> nanos) {
        long[] sorted = nanos.stream().mapToLong(Long::longValue).sorted().toArray();
        return new Quantiles(sorted.length, at(sorted, 50), at(sorted, 99), at(sorted, 100));
    }

    /** Times some calls. */
    public static Quantiles of(int calls, Callable<?> work) throws Exception {
        List<Long> nanos = new ArrayList<>(calls);
        for (int i = 0; i < calls; i++) {
            long startNs = System.nanoTime();
            work.call();
            nanos.add(System.nanoTime() - startNs);
        }
        return of(nanos);
    }

    private static double at(long[] sorted, int percent) {
        int index = Math.min(sorted.length - 1, (int) ((long) sorted.length * percent / 100));
        return sorted.length == 0 ? 0 : Rows.rounded(sorted[index] / 1e6, 4);
    }
}
