package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.Permutation;
import java.util.OptionalLong;

/** The permutations of one epoch; without a seed, there are none. */
record Shuffles(OptionalLong seed, long epoch) {
    /** Returns an order of {@code length} elements: ascending unless there is a seed. */
    SampleOrder of(long length, long which, int draw) {
        return seed.isPresent()
                ? new PermutedOrder(Permutation.of(length, seed.getAsLong(), epoch, which, draw))
                : new SequentialOrder(length);
    }
}
