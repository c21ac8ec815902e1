package dev.larder.distributed;

import dev.larder.distributed.internal.Slots;

/** Reduces short spans with one meeting: every rank puts all it has, and reduces all by itself. */
final class ShortReduceExchange implements Exchange {
    private final Slots slots;
    private final Reducer reducer;
    private Span data = Span.NOTHING;
    private boolean isTaker;

    ShortReduceExchange(Slots slots, Reducer reducer) {
        this.slots = slots;
        this.reducer = reducer;
    }

    ShortReduceExchange begin(Span data, ReduceOp op, int root) {
        this.data = data;
        this.isTaker = root == CallKind.EVERY_RANK || root == slots.rank();
        reducer.begin(data, op, data, false);
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
        data.copyTo(offset, slots.at(slots.rank(), step), length);
    }

    @Override
    public void take(long offset, long length, int step) {
        if (isTaker) {
            reducer.reduce(step, 0, offset, offset, length);
        }
    }

    @Override
    public void end() {
        data = Span.NOTHING;
        reducer.end();
    }
}
