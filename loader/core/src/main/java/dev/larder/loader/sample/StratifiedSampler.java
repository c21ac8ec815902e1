package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.Draws;
import dev.larder.loader.internal.sample.Groups;
import dev.larder.loader.internal.sample.LaidDown;
import dev.larder.loader.internal.sample.OrderThread;
import dev.larder.loader.internal.sample.Permutation;
import dev.larder.loader.internal.sample.Philox;
import dev.larder.loader.internal.sample.Requirements;
import dev.larder.loader.internal.sample.SortedKeys;

/**
 * Visits every row once with classes in proportion: an epoch lasts from time 0 to 1, and each of a class's {@code n} rows comes
 * at a random time within one {@code n}-th of it, one after the other.
 */
final class StratifiedSampler implements Sampler, LaidDown {
    /** The bytes for a row while an order is computed: its time, its number, and its place in two lists that are merged. */
    private static final int LAYING_BYTES = Double.BYTES + 3 * Integer.BYTES;

    private final Labels labels;
    private final Groups groups;
    private final long seed;

    StratifiedSampler(Labels labels, long seed) {
        this.labels = labels;
        this.groups = labels.groups();
        this.seed = seed;
    }

    @Override
    public SampleOrder order(long rows, long epoch) {
        Requirements.sameRows("labels", labels.rows(), rows);
        double[] times = new double[groups.rows()];
        int[] visited = new int[times.length];
        int next = 0;
        for (int group = 0; group < groups.groups(); group++) {
            int size = groups.size(group);
            Permutation order = Permutation.of(size, seed, epoch, group, Draws.STRATIFIED_CLASS);
            for (int i = 0; i < size; i++, next++) {
                OrderThread.requireWanted(next);
                double within = Philox.unitDouble(Philox.bits(seed, epoch, next, Draws.STRATIFIED_TIME));
                times[next] = (i + within) / size;
                visited[next] = groups.row(group, order.at(i));
            }
        }
        int[] inTime = SortedKeys.places(times);
        for (int i = 0; i < inTime.length; i++) {
            inTime[i] = visited[inTime[i]];
        }
        return new ListedOrder(inTime);
    }

    @Override
    public long heapBytes(long rows) {
        return LAYING_BYTES * rows;
    }

    @Override
    public Sampler over(Subset subset) {
        return new RestrictedSampler(new StratifiedSampler(labels.over(subset), seed), subset);
    }

    @Override
    public String description() {
        return "stratified(" + labels.description() + " seed=" + seed + ")";
    }

    @Override
    public String toString() {
        return description();
    }
}
