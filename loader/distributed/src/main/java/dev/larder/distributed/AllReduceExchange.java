package dev.larder.distributed;

import dev.larder.distributed.internal.Slots;
import dev.larder.distributed.internal.SpanChunks;

/**
 * Reduces long spans: each rank puts all parts of the chunk but its own, reduces its part to its slot, and takes the parts of the others.
 * With a root, only that one takes them.
 */
final class AllReduceExchange extends ChunkExchange {
    private final Reducer reducer;

    AllReduceExchange(Slots slots, Reducer reducer) {
        super(slots);
        this.reducer = reducer;
    }

    AllReduceExchange begin(Span data, ReduceOp op, int root) {
        boolean isRoot = root == CallKind.EVERY_RANK || root == slots.rank();
        return begin(data, isRoot ? data : Span.NOTHING, op);
    }

    /** Begins a call with its result in another span, which is {@link Span#NOTHING} at ranks that get none. */
    AllReduceExchange begin(Span data, Span result, ReduceOp op) {
        use(data, result);
        reducer.begin(data, op, result, true);
        return this;
    }

    @Override
    boolean isReducing() {
        return true;
    }

    @Override
    void put(long offset, long length, int step) {
        long slot = slots.at(slots.rank(), step);
        long begin = part(slots.rank(), length);
        long end = part(slots.rank() + 1, length);
        source.copyTo(offset, slot, begin);
        source.copyTo(offset + end, slot + end, length - end);
    }

    @Override
    void reduce(long offset, long length, int step) {
        long begin = part(slots.rank(), length);
        long end = part(slots.rank() + 1, length);
        reducer.reduce(step, begin, offset + begin, offset + begin, end - begin);
    }

    @Override
    void take(long offset, long length, int step) {
        boolean isTaker = target.byteSize() != 0;
        for (int rank = 0; isTaker && rank < slots.worldSize(); rank++) {
            if (rank != slots.rank()) {
                long begin = part(rank, length);
                target.copyFrom(slots.at(rank, step) + begin, offset + begin, part(rank + 1, length) - begin);
            }
        }
    }

    private long part(int rank, long length) {
        return SpanChunks.partStart(rank, slots.worldSize(), length);
    }

    @Override
    void end() {
        super.end();
        reducer.end();
    }
}
