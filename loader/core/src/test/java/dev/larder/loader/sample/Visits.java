package dev.larder.loader.sample;

import java.util.Arrays;
import java.util.stream.LongStream;

/** Reads whole orders. */
public final class Visits {
    private Visits() {}

    public static long[] of(Sampler sampler, long rows, long epoch) {
        return of(sampler.order(rows, epoch));
    }

    public static long[] of(SampleOrder order) {
        return LongStream.range(0, order.length()).map(order::row).toArray();
    }

    public static long[] of(Subset subset) {
        return LongStream.range(0, subset.size()).map(subset::row).toArray();
    }

    /** Reads the rows of all batches. */
    public static long[][] of(BatchOrder order) {
        long[][] batches = new long[(int) order.batches()][];
        for (int batch = 0; batch < batches.length; batch++) {
            long first = order.first(batch);
            batches[batch] = LongStream.range(first, first + order.size(batch))
                    .map(order::row)
                    .toArray();
        }
        return batches;
    }

    public static long[] flat(long[][] batches) {
        return Arrays.stream(batches).flatMapToLong(Arrays::stream).toArray();
    }

    public static long[] sorted(long[] rows) {
        long[] copy = rows.clone();
        Arrays.sort(copy);
        return copy;
    }

    public static long[] range(long rows) {
        return LongStream.range(0, rows).toArray();
    }
}
