package dev.larder.distributed;

import dev.larder.distributed.internal.Chunks;
import dev.larder.distributed.internal.Slots;

/**
 * Reduces long spans: each rank puts what is not its own part of the chunk, reduces its part to its slot, and takes the parts of the
 * others. With a root only that one takes.
 */
final class AllReduceExchange implements Exchange {
    private final Slots slots;
    private final Reducer reducer;
    private Span data = Span.NOTHING;
    private Span result = Span.NOTHING;
    private boolean isTaker;

    AllReduceExchange(Slots slots, Reducer reducer) {
        this.slots = slots;
        this.reducer = reducer;
    }

    AllReduceExchange begin(Span data, ReduceOp op, int root) {
        boolean isRoot = root == CallKind.EVERY_RANK || root == slots.rank();
        return begin(data, isRoot ? data : Span.NOTHING, op);
    }

    /** Begins a call whose result goes to another span; to none at ranks that bring {@link Span#NOTHING}. */
    AllReduceExchange begin(Span data, Span result, ReduceOp op) {
        this.data = data;
        this.result = result;
        this.isTaker = result.byteSize() != 0;
        reducer.begin(data, op, result, true);
        return this;
    }

    @Override
    public long chunkByteSize() {
        return slots.chunkByteSize();
    }

    @Override
    public boolean isReducing() {
        return true;
    }

    @Override
    public void put(long offset, long length, int step) {
        long slot = slots.at(slots.rank(), step);
        long begin = part(slots.rank(), length);
        long end = part(slots.rank() + 1, length);
        data.copyTo(offset, slot, begin);
        data.copyTo(offset + end, slot + end, length - end);
    }

    @Override
    public void reduce(long offset, long length, int step) {
        long begin = part(slots.rank(), length);
        long end = part(slots.rank() + 1, length);
        reducer.reduce(step, begin, offset + begin, offset + begin, end - begin);
    }

    @Override
    public void take(long offset, long length, int step) {
        for (int rank = 0; isTaker && rank < slots.worldSize(); rank++) {
            if (rank != slots.rank()) {
                long begin = part(rank, length);
                result.copyFrom(slots.at(rank, step) + begin, offset + begin, part(rank + 1, length) - begin);
            }
        }
    }

    private long part(int rank, long length) {
        return Chunks.partStart(rank, slots.worldSize(), length);
    }

    @Override
    public void end() {
        data = Span.NOTHING;
        result = Span.NOTHING;
        reducer.end();
    }
}
