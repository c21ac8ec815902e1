package dev.larder.loader;

import dev.larder.loader.sample.SampleOrder;

/** Says which positions of an epoch's order each batch holds. One object per epoch begun: its identity counts. */
final class Plan {
    private final long epoch;
    private final SampleOrder order;
    private final int batchSize;
    private final long samples;

    Plan(long epoch, SampleOrder order, int batchSize, boolean dropLast) {
        long length = order.length();
        this.epoch = epoch;
        this.order = order;
        this.batchSize = batchSize;
        this.samples = dropLast ? length - length % batchSize : length;
    }

    long epoch() {
        return epoch;
    }

    SampleOrder order() {
        return order;
    }

    /** Returns how many batches the epoch has. */
    long batches() {
        return samples / batchSize + (samples % batchSize == 0 ? 0 : 1);
    }

    /** Returns how many samples all batches have together. */
    long samples() {
        return samples;
    }

    /** Returns the position of a batch's first sample in the order. */
    long position(long batch) {
        return batch * batchSize;
    }

    /** Returns how many samples a batch has: fewer than usual in the last one. */
    int size(long batch) {
        return (int) Math.min(batchSize, samples - position(batch));
    }
}
