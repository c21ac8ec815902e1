package dev.larder.distributed;

import dev.larder.distributed.internal.Slots;
import dev.larder.distributed.internal.SpanChunks;

/** Gives each rank the sum of one part: a slot has a piece for each rank, and each rank reduces its own pieces. */
final class ReduceScatterExchange extends ChunkExchange {
    private final Reducer reducer;
    private final long share;

    ReduceScatterExchange(Slots slots, Reducer reducer) {
        super(slots);
        this.reducer = reducer;
        this.share = SpanChunks.shareOf(slots.chunkByteSize(), slots.worldSize());
    }

    ReduceScatterExchange begin(Span input, Span output, ReduceOp op) {
        use(input, output);
        reducer.begin(input, op, output, false);
        return this;
    }

    @Override
    long chunkByteSize() {
        return share;
    }

    @Override
    void put(long offset, long length, int step) {
        long slot = slots.at(slots.rank(), step);
        for (int rank = 0; rank < slots.worldSize(); rank++) {
            if (rank != slots.rank()) {
                source.copyTo(rank * target.byteSize() + offset, slot + rank * share, length);
            }
        }
    }

    @Override
    void take(long offset, long length, int step) {
        int rank = slots.rank();
        reducer.reduce(step, rank * share, rank * target.byteSize() + offset, offset, length);
    }

    @Override
    void end() {
        super.end();
        reducer.end();
    }
}
