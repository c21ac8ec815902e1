package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.Groups;
import dev.larder.loader.internal.sample.Requirements;
import java.util.Arrays;
import java.util.OptionalLong;

/**
 * Takes each batch from one bucket of lengths, so that batches need little padding.
 *
 * <pre>{@code
 * Buckets.of(lengths).bounds(100, 220).batchSizes(32, 24, 16).shuffle(seed)
 * }</pre>
 *
 * <p>With {@link #shuffle}, every epoch has another order of samples within each bucket, and of all batches. The last batch of a bucket
 * may be smaller. The number of batches depends only on the lengths, so it is the same in every epoch. An order takes 8 bytes a batch
 * and 4 for every 16 samples. Immutable.
 */
public final class Buckets implements LaidDownBatches {
    private final Lengths lengths;
    private final int[] bounds;
    private final int[] batchSizes;
    private final Groups groups;
    private final OptionalLong seed;
    private final boolean dropLast;

    private Buckets(
            Lengths lengths, int[] bounds, int[] batchSizes, Groups groups, OptionalLong seed, boolean dropLast) {
        this.lengths = lengths;
        this.bounds = bounds;
        this.batchSizes = batchSizes;
        this.groups = groups;
        this.seed = seed;
        this.dropLast = dropLast;
    }

    /** Begins with one bucket, which {@link #bounds} divides. */
    public static Buckets of(Lengths lengths) {
        return bounded(lengths, new int[0], new int[0], OptionalLong.empty(), false);
    }

    /** Sets the longest length of each bucket but the last, in ascending order: a length equal to a bound is in the lower bucket. */
    public Buckets bounds(int... longest) {
        for (int i = 1; i < longest.length; i++) {
            if (longest[i - 1] >= longest[i]) {
                throw new IllegalArgumentException("bounds must ascend: bounds=" + Arrays.toString(longest));
            }
        }
        return bounded(lengths, longest.clone(), batchSizes, seed, dropLast);
    }

    /** Sets the batch size of each bucket. Required; one number more than bounds. */
    public Buckets batchSizes(int... sizes) {
        for (int size : sizes) {
            if (size < 1) {
                throw new IllegalArgumentException(
                        "batch sizes must be at least 1: batchSizes=" + Arrays.toString(sizes));
            }
        }
        return new Buckets(lengths, bounds, sizes.clone(), groups, seed, dropLast);
    }

    /** Shuffles samples within buckets, and batches. Without it, buckets come one after the other, with rows in their order. */
    public Buckets shuffle(long newSeed) {
        return new Buckets(lengths, bounds, batchSizes, groups, OptionalLong.of(newSeed), dropLast);
    }

    /** Omits batches that are smaller than the others of their bucket. */
    public Buckets dropLast(boolean drop) {
        return new Buckets(lengths, bounds, batchSizes, groups, seed, drop);
    }

    private static Buckets bounded(
            Lengths lengths, int[] bounds, int[] batchSizes, OptionalLong seed, boolean dropLast) {
        int[] bucketOfRow = new int[(int) lengths.rows()];
        Arrays.setAll(bucketOfRow, row -> bucket(bounds, lengths.length(row)));
        Groups groups = Groups.of(bucketOfRow, bounds.length + 1);
        return new Buckets(lengths, bounds, batchSizes, groups, seed, dropLast);
    }

    private static int bucket(int[] bounds, int length) {
        int found = Arrays.binarySearch(bounds, length);
        return found < 0 ? -found - 1 : found;
    }

    /** Returns the number of batches in an epoch. */
    public long batches() {
        requireBatchSizes();
        long batches = 0;
        for (int bucket = 0; bucket < batchSizes.length; bucket++) {
            batches += batches(bucket);
        }
        return batches;
    }

    @Override
    public BatchOrder order(long rows, long epoch) {
        Requirements.sameRows("lengths", lengths.rows(), rows);
        requireBatchSizes();
        int[] firstBatches = new int[groups.groups() + 1];
        for (int bucket = 0; bucket < groups.groups(); bucket++) {
            firstBatches[bucket + 1] = Math.addExact(firstBatches[bucket], batches(bucket));
        }
        return BucketOrder.of(groups, batchSizes, firstBatches, new Shuffles(seed, epoch));
    }

    @Override
    public long heapBytes(long rows) {
        return Long.BYTES * batches() + rows / BucketOrder.SAMPLES_PER_GUIDE * Integer.BYTES;
    }

    @Override
    public BatchSampler over(Subset subset) {
        return new RestrictedBatches(bounded(lengths.over(subset), bounds, batchSizes, seed, dropLast), subset);
    }

    @Override
    public String description() {
        return "buckets(" + lengths.description() + " bounds=" + Arrays.toString(bounds) + " batchSizes="
                + Arrays.toString(batchSizes) + (seed.isPresent() ? " seed=" + seed.getAsLong() : "")
                + (dropLast ? " dropLast)" : ")");
    }

    @Override
    public String toString() {
        return description();
    }

    private int batches(int bucket) {
        int samples = groups.size(bucket);
        int full = samples / batchSizes[bucket];
        return dropLast || samples % batchSizes[bucket] == 0 ? full : full + 1;
    }

    private void requireBatchSizes() {
        if (batchSizes.length != groups.groups()) {
            throw new IllegalStateException("there must be one batch size for each bucket: bounds="
                    + Arrays.toString(bounds) + " batchSizes=" + Arrays.toString(batchSizes));
        }
    }
}
