package dev.larder.distributed;

import dev.larder.distributed.internal.Slots;

/** Hands out what the root has. */
final class BroadcastExchange implements Exchange {
    private final Slots slots;
    private Span data = Span.NOTHING;
    private int root;

    BroadcastExchange(Slots slots) {
        this.slots = slots;
    }

    BroadcastExchange begin(Span data, int root) {
        this.data = data;
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
            data.copyTo(offset, slots.at(root, step), length);
        }
    }

    @Override
    public void take(long offset, long length, int step) {
        if (root != slots.rank()) {
            data.copyFrom(slots.at(root, step), offset, length);
        }
    }

    @Override
    public void end() {
        data = Span.NOTHING;
    }
}
