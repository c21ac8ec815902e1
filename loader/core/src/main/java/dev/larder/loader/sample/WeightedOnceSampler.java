package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.Draws;
import dev.larder.loader.internal.sample.LaidDown;
import dev.larder.loader.internal.sample.OrderThread;
import dev.larder.loader.internal.sample.Philox;
import dev.larder.loader.internal.sample.Requirements;
import dev.larder.loader.internal.sample.SortedKeys;
import dev.larder.loader.internal.sample.Weights;
import java.util.Arrays;

/**
 * Draws rows by weight, without replacement: the rows with the smallest exponential random times, after Efraimidis and Spirakis,
 * "Weighted random sampling with a reservoir" (2006).
 */
record WeightedOnceSampler(Weights weights, int samples, long seed) implements Sampler, LaidDown {
    /** The bytes for a row while an order is computed: its time, and its place in two lists that are merged. */
    private static final int LAYING_BYTES = Double.BYTES + 2 * Integer.BYTES;

    static WeightedOnceSampler of(double[] weights, long samples, long seed) {
        if (samples < 0) {
            throw new IllegalArgumentException("samples must be at least 0: samples=" + samples);
        }
        return new WeightedOnceSampler(Weights.of(weights, samples), Math.toIntExact(samples), seed);
    }

    @Override
    public SampleOrder order(long rows, long epoch) {
        Requirements.sameRows("weights", weights.rows(), rows);
        double[] times = weights.scaled();
        for (int row = 0; row < times.length; row++) {
            OrderThread.requireWanted(row);
            double unit = Philox.unitDouble(Philox.bits(seed, epoch, row, Draws.WEIGHTED_ONCE));
            // StrictMath: the same on every machine; 0 / 0 must not be the smallest time
            times[row] = times[row] == 0 ? Double.NaN : -StrictMath.log(1 - unit) / times[row];
        }
        return new ListedOrder(Arrays.copyOf(SortedKeys.places(times), samples));
    }

    @Override
    public long heapBytes(long rows) {
        return LAYING_BYTES * rows + (long) Integer.BYTES * samples;
    }

    @Override
    public Sampler over(Subset subset) {
        return new RestrictedSampler(of(weights.over(subset.list()), samples, seed), subset);
    }

    @Override
    public String description() {
        return "weightedWithoutReplacement(" + weights.description() + " samples=" + samples + " seed=" + seed + ")";
    }

    @Override
    public String toString() {
        return description();
    }
}
