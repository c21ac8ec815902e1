package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.LaidDown;

/** Visits every row once, in the order of PyTorch's {@code randperm}. */
record RandomSampler(long seed) implements Sampler, LaidDown {
    @Override
    public SampleOrder order(long rows, long epoch) {
        return RandomOrder.of(rows, seed + epoch);
    }

    @Override
    public long heapBytes(long rows) {
        return Integer.BYTES * rows;
    }

    @Override
    public String description() {
        return "random(seed=" + seed + ")";
    }

    @Override
    public String toString() {
        return description();
    }
}
