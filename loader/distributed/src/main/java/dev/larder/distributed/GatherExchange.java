package dev.larder.distributed;

import dev.larder.distributed.internal.Slots;

/** Writes what all ranks have one after the other, at every rank or at the root. */
final class GatherExchange implements Exchange {
    private final Slots slots;
    private Span input = Span.NOTHING;
    private Span output = Span.NOTHING;
    private boolean isTaker;

    GatherExchange(Slots slots) {
        this.slots = slots;
    }

    /** Begins a call; the output is used only where this rank is one that gets something. */
    GatherExchange begin(Span input, Span output, int root) {
        this.input = input;
        this.output = output;
        this.isTaker = root == CallKind.EVERY_RANK || root == slots.rank();
        return this;
    }

    @Override
    public long chunkByteSize() {
        return slots.chunkByteSize();
    }

    @Override
    public boolean isReducing() {
        return false;
    }

    @Override
    public void put(long offset, long length, int step) {
        input.copyTo(offset, slots.at(slots.rank(), step), length);
    }

    @Override
    public void take(long offset, long length, int step) {
        for (int rank = 0; isTaker && rank < slots.worldSize(); rank++) {
            output.copyFrom(slots.at(rank, step), rank * input.byteSize() + offset, length);
        }
    }

    @Override
    public void end() {
        input = Span.NOTHING;
        output = Span.NOTHING;
    }
}
