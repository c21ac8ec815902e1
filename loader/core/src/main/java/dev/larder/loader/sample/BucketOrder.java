package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.Draws;
import dev.larder.loader.internal.sample.Groups;
import dev.larder.loader.internal.sample.OrderThread;
import java.util.Objects;

/** Batches with samples of one bucket each. Batches are numbered bucket by bucket, and come in another order. */
final class BucketOrder implements BatchOrder {
    /** Positions that share an entry of the index of batches, as bits: few batches are shorter. */
    private static final int GUIDE_SHIFT = 4;

    static final int SAMPLES_PER_GUIDE = 1 << GUIDE_SHIFT;

    private final Groups groups;
    private final int[] batchSizes;
    private final int[] firstBatches;
    private final SampleOrder[] samples;
    private final int[] numbers;
    private final int[] starts;
    private final int[] guide;

    private BucketOrder(Groups groups, int[] batchSizes, int[] firstBatches, SampleOrder[] samples, SampleOrder order) {
        this.groups = groups;
        this.batchSizes = batchSizes;
        this.firstBatches = firstBatches;
        this.samples = samples;
        this.numbers = new int[(int) order.length()];
        this.starts = new int[numbers.length + 1];
        for (int batch = 0; batch < numbers.length; batch++) {
            OrderThread.requireWanted(batch);
            int number = (int) order.row(batch);
            int bucket = bucket(number);
            int before = (number - firstBatches[bucket]) * batchSizes[bucket];
            numbers[batch] = number;
            starts[batch + 1] = starts[batch] + Math.min(batchSizes[bucket], groups.size(bucket) - before);
        }
        this.guide = new int[(starts[numbers.length] >>> GUIDE_SHIFT) + 1];
        for (int i = 1; i < guide.length; i++) {
            guide[i] = batch(guide[i - 1], i << GUIDE_SHIFT);
        }
    }

    /** Returns the batches of an epoch; {@code firstBatches} has the number of batches before each bucket. */
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
        return numbers.length;
    }

    @Override
    public long first(long batch) {
        return starts[(int) Objects.checkIndex(batch, (long) starts.length)];
    }

    @Override
    public long row(long position) {
        int place = (int) Objects.checkIndex(position, (long) starts[numbers.length]);
        int batch = batch(guide[place >>> GUIDE_SHIFT], place);
        int bucket = bucket(numbers[batch]);
        int before = (numbers[batch] - firstBatches[bucket]) * batchSizes[bucket];
        return groups.row(bucket, samples[bucket].row(before + place - starts[batch]));
    }

    /** Returns the batch with a position, or the last one; the search begins at {@code from}, which must not be behind it. */
    private int batch(int from, int position) {
        int batch = from;
        while (batch + 1 < numbers.length && starts[batch + 1] <= position) {
            batch++;
        }
        return batch;
    }

    /** Returns the bucket of a batch: the last one that begins at or before it. */
    private int bucket(int number) {
        int bucket = 0;
        while (firstBatches[bucket + 1] <= number) {
            bucket++;
        }
        return bucket;
    }
}
