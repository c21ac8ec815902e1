package dev.larder.loader.sample;

import java.util.Arrays;
import java.util.Objects;

/** Batches of samples of one bucket each. Batches are numbered bucket by bucket, and come in an order of their own. */
final class BucketOrder implements BatchOrder {
    private final Groups groups;
    private final int[] batchSizes;
    private final int[] firstBatches;
    private final SampleOrder[] samples;
    private final SampleOrder order;
    private final int[] starts;

    private BucketOrder(Groups groups, int[] batchSizes, int[] firstBatches, SampleOrder[] samples, SampleOrder order) {
        this.groups = groups;
        this.batchSizes = batchSizes;
        this.firstBatches = firstBatches;
        this.samples = samples;
        this.order = order;
        this.starts = new int[(int) order.length() + 1];
        for (int batch = 0; batch < order.length(); batch++) {
            int numbered = (int) order.row(batch);
            int bucket = bucket(numbered);
            int before = (numbered - firstBatches[bucket]) * batchSizes[bucket];
            starts[batch + 1] = starts[batch] + Math.min(batchSizes[bucket], groups.size(bucket) - before);
        }
    }

    /** Lays down the batches of an epoch; {@code firstBatches} says how many batches come before those of each bucket. */
    static BucketOrder of(Groups groups, int[] batchSizes, int[] firstBatches, Shuffles shuffles) {
        SampleOrder[] samples = new SampleOrder[groups.groups()];
        for (int bucket = 0; bucket < samples.length; bucket++) {
            samples[bucket] = shuffles.of(groups.size(bucket), bucket, Draws.BUCKET);
        }
        SampleOrder order = shuffles.of(firstBatches[groups.groups()], 0, Draws.BATCHES);
        return new BucketOrder(groups, batchSizes, firstBatches, samples, order);
    }

    @Override
    public long batches() {
        return order.length();
    }

    @Override
    public long first(long batch) {
        return starts[(int) Objects.checkIndex(batch, (long) starts.length)];
    }

    @Override
    public long row(long position) {
        Objects.checkIndex(position, (long) starts[starts.length - 1]);
        int found = Arrays.binarySearch(starts, (int) position);
        int batch = found < 0 ? -found - 2 : found;
        int numbered = (int) order.row(batch);
        int bucket = bucket(numbered);
        long place = (long) (numbered - firstBatches[bucket]) * batchSizes[bucket] + position - starts[batch];
        return groups.row(bucket, samples[bucket].row(place));
    }

    /** Returns the bucket that has a batch: the last one that begins at or before it. */
    private int bucket(int numbered) {
        int bucket = 0;
        while (firstBatches[bucket + 1] <= numbered) {
            bucket++;
        }
        return bucket;
    }
}
