package dev.larder.distributed;

import dev.larder.distributed.internal.Slots;

/** Writes the inputs of all ranks one after the other, at every rank or at the root. */
final class GatherExchange extends ChunkExchange {
    private boolean isTaker;

    GatherExchange(Slots slots) {
        super(slots);
    }

    /** Begins a call; the output is used only at ranks that get the result. */
    GatherExchange begin(Span input, Span output, int root) {
        use(input, output);
        isTaker = root == CallKind.EVERY_RANK || root == slots.rank();
        return this;
    }

    @Override
    void put(long offset, long length, int step) {
        source.copyTo(offset, slots.at(slots.rank(), step), length);
    }

    @Override
    void take(long offset, long length, int step) {
        for (int rank = 0; isTaker && rank < slots.worldSize(); rank++) {
            target.copyFrom(slots.at(rank, step), rank * source.byteSize() + offset, length);
        }
    }
}
