package dev.larder.distributed;

import dev.larder.distributed.internal.GroupDescriptor;
import dev.larder.distributed.internal.Slots;

/**
 * The work of a rank for the chunks of a call. In each step it puts one chunk, reduces the one before, if there is something to reduce, and
 * takes the one before that: so copying in, calculating and copying out of several ranks overlap with one barrier in each step.
 *
 * <p>A chunk can be read by all after the next barrier, and is overwritten {@link GroupDescriptor#DEPTH} steps later.
 */
abstract class ChunkExchange {
    final Slots slots;
    Span source = Span.NOTHING;
    Span target = Span.NOTHING;

    ChunkExchange(Slots slots) {
        this.slots = slots;
    }

    /** Sets the spans of a call. */
    final void use(Span newSource, Span newTarget) {
        source = newSource;
        target = newTarget;
    }

    /** Returns the number of bytes of a span in a chunk. */
    long chunkByteSize() {
        return slots.chunkByteSize();
    }

    /** Returns whether there is something to reduce between putting and taking. */
    boolean isReducing() {
        return false;
    }

    /** Writes the data for the others into slots of a step; {@code length} is that of this chunk. */
    abstract void put(long offset, long length, int step);

    /** Reduces a chunk that was put in a step. */
    void reduce(long offset, long length, int step) {
        throw new IllegalStateException("nothing to reduce");
    }

    /** Reads the data of the others for a chunk that was put in a step. */
    abstract void take(long offset, long length, int step);

    /** Forgets the spans of the call. */
    void end() {
        use(Span.NOTHING, Span.NOTHING);
    }
}
