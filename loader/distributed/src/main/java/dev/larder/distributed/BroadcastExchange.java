package dev.larder.distributed;

import dev.larder.distributed.internal.Slots;

/** Copies the span of the root to the others. */
final class BroadcastExchange extends ChunkExchange {
    private int root;

    BroadcastExchange(Slots slots) {
        super(slots);
    }

    BroadcastExchange begin(Span data, int callRoot) {
        return callRoot == slots.rank() ? begin(data, Span.NOTHING, callRoot) : begin(Span.NOTHING, data, callRoot);
    }

    /** Begins a call that copies {@code from} of the root to another span, which may be empty. */
    BroadcastExchange begin(Span from, Span to, int callRoot) {
        use(from, to);
        root = callRoot;
        return this;
    }

    @Override
    void put(long offset, long length, int step) {
        if (root == slots.rank()) {
            source.copyTo(offset, slots.at(root, step), length);
        }
    }

    @Override
    void take(long offset, long length, int step) {
        if (target.byteSize() != 0) {
            target.copyFrom(slots.at(root, step), offset, length);
        }
    }
}
