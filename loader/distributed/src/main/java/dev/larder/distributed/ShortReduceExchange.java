package dev.larder.distributed;

import dev.larder.distributed.internal.Slots;

/** Reduces short spans with one barrier: every rank puts its whole span, and reduces all spans itself. */
final class ShortReduceExchange extends ChunkExchange {
    private final Reducer reducer;
    private boolean isTaker;

    ShortReduceExchange(Slots slots, Reducer reducer) {
        super(slots);
        this.reducer = reducer;
    }

    ShortReduceExchange begin(Span data, ReduceOp op, int root) {
        use(data, data);
        isTaker = root == CallKind.EVERY_RANK || root == slots.rank();
        reducer.begin(data, op, data, false);
        return this;
    }

    @Override
    void put(long offset, long length, int step) {
        source.copyTo(offset, slots.at(slots.rank(), step), length);
    }

    @Override
    void take(long offset, long length, int step) {
        if (isTaker) {
            reducer.reduce(step, 0, offset, offset, length);
        }
    }

    @Override
    void end() {
        super.end();
        reducer.end();
    }
}
