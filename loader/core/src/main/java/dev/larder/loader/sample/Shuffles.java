package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.Permutation;
import java.util.OptionalLong;

/** The permutations of one epoch, or none where nothing is shuffled. */
record Shuffles(OptionalLong seed, long epoch) {
    /** Orders so many things: as they lie, unless there is a seed. */
    SampleOrder of(long length, long which, int draw) {
        return seed.isPresent()
                ? new PermutedOrder(Permutation.of(length, seed.getAsLong(), epoch, which, draw))
                : new SequentialOrder(length);
    }
}
