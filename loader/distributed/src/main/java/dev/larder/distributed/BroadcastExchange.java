package dev.larder.distributed;

import dev.larder.distributed.internal.Slots;

/** Hands out what the root has. */
final class BroadcastExchange implements Exchange {
    private final Slots slots;
    private Span source = Span.NOTHING;
    private Span target = Span.NOTHING;
    private int root;

    BroadcastExchange(Slots slots) {
        this.slots = slots;
    }

    BroadcastExchange begin(Span data, int root) {
        return root == slots.rank() ? begin(data, Span.NOTHING, root) : begin(Span.NOTHING, data, root);
    }

    /** Begins a call that takes what the root has at {@code source} to another span; to none where that has no elements. */
    BroadcastExchange begin(Span source, Span target, int root) {
        this.source = source;
        this.target = target;
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
        if (root == slots.rank()) {
            source.copyTo(offset, slots.at(root, step), length);
        }
    }

    @Override
    public void take(long offset, long length, int step) {
        if (target.byteSize() != 0) {
            target.copyFrom(slots.at(root, step), offset, length);
        }
    }

    @Override
    public void end() {
        source = Span.NOTHING;
        target = Span.NOTHING;
    }
}
