package dev.larder.distributed;

import dev.larder.distributed.internal.Chunks;
import dev.larder.distributed.internal.Slots;

/** Gives each rank the sum of one part: a slot holds a piece for each rank, and each rank reduces the pieces for itself. */
final class ReduceScatterExchange implements Exchange {
    private final Slots slots;
    private final Reducer reducer;
    private final long share;
    private Span input = Span.NOTHING;
    private long partByteSize;

    ReduceScatterExchange(Slots slots, Reducer reducer) {
        this.slots = slots;
        this.reducer = reducer;
        this.share = Chunks.shareOf(slots.chunkByteSize(), slots.worldSize());
    }

    ReduceScatterExchange begin(Span input, Span output, ReduceOp op) {
        this.input = input;
        this.partByteSize = output.byteSize();
        reducer.begin(input, op, output, false);
        return this;
    }

    @Override
    public long chunkByteSize() {
        return share;
    }

    @Override
    public boolean isReducing() {
        return false;
    }

    @Override
    public void put(long offset, long length, int step) {
        long slot = slots.at(slots.rank(), step);
        for (int rank = 0; rank < slots.worldSize(); rank++) {
            if (rank != slots.rank()) {
                input.copyTo(rank * partByteSize + offset, slot + rank * share, length);
            }
        }
    }

    @Override
    public void take(long offset, long length, int step) {
        int rank = slots.rank();
        reducer.reduce(step, rank * share, rank * partByteSize + offset, offset, length);
    }

    @Override
    public void end() {
        input = Span.NOTHING;
        reducer.end();
    }
}
