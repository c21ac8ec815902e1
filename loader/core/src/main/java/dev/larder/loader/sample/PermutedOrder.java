package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.Permutation;

/** Visits every row once, in an order that is computed place by place. */
record PermutedOrder(Permutation permutation) implements SampleOrder {
    @Override
    public long length() {
        return permutation.length();
    }

    @Override
    public long row(long position) {
        return permutation.at(position);
    }
}
