package dev.larder.distributed;

import dev.larder.distributed.internal.Slots;

/** Gives each rank its part of the root's input: the root fills the slots of all. */
final class ScatterExchange extends ChunkExchange {
    private int root;

    ScatterExchange(Slots slots) {
        super(slots);
    }

    /** Begins a call; only the root uses the input. */
    ScatterExchange begin(Span input, Span output, int callRoot) {
        use(input, output);
        root = callRoot;
        return this;
    }

    @Override
    void put(long offset, long length, int step) {
        for (int rank = 0; root == slots.rank() && rank < slots.worldSize(); rank++) {
            source.copyTo(rank * target.byteSize() + offset, slots.at(rank, step), length);
        }
    }

    @Override
    void take(long offset, long length, int step) {
        target.copyFrom(slots.at(slots.rank(), step), offset, length);
    }
}
