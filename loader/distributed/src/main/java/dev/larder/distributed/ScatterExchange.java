package dev.larder.distributed;

import dev.larder.distributed.internal.Slots;

/** Hands each rank its part of what the root has: the root fills the slots of all. */
final class ScatterExchange implements Exchange {
    private final Slots slots;
    private Span input = Span.NOTHING;
    private Span output = Span.NOTHING;
    private int root;

    ScatterExchange(Slots slots) {
        this.slots = slots;
    }

    /** Begins a call; the input is used at the root alone. */
    ScatterExchange begin(Span input, Span output, int root) {
        this.input = input;
        this.output = output;
        this.root = root;
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
        for (int rank = 0; root == slots.rank() && rank < slots.worldSize(); rank++) {
            input.copyTo(rank * output.byteSize() + offset, slots.at(rank, step), length);
        }
    }

    @Override
    public void take(long offset, long length, int step) {
        output.copyFrom(slots.at(slots.rank(), step), offset, length);
    }

    @Override
    public void end() {
        input = Span.NOTHING;
        output = Span.NOTHING;
    }
}
