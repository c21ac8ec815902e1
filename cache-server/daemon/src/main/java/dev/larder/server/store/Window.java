package dev.larder.server.store;

import java.nio.ByteBuffer;

/** The part of a segment that one thread is filling, as memory. Moves on through the segment and never back. */
abstract sealed class Window permits MappedWindow, BufferedWindow {
    private ByteBuffer memory;
    private long address;
    private long offset;
    private int byteSize;

    Window(ByteBuffer memory) {
        this.memory = memory;
    }

    /** Shows other memory, or the same again, for a stretch of the segment. */
    final void show(ByteBuffer next, long nextAddress, long nextOffset, int nextByteSize) {
        memory = next;
        address = nextAddress;
        offset = nextOffset;
        byteSize = nextByteSize;
    }

    final long offset() {
        return offset;
    }

    /** Returns where what is in it ends in the segment. */
    final long end() {
        return offset + byteSize;
    }

    final long addressOf(long place) {
        return address + (place - offset);
    }

    /** Returns the memory of at most {@code limit} bytes from a place in it. */
    final ByteBuffer at(long place, long limit) {
        int start = (int) (place - offset);
        return memory.limit((int) Math.min(byteSize, start + limit)).position(start);
    }

    /** Gives up what it shows, filled up to {@code position}, for a stretch that begins there or later. */
    abstract void moveTo(long position, long next);

    /** Sees to it that everything up to {@code position} is in the segment. */
    abstract void finish(long position);
}
