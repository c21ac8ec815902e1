package dev.larder.distributed;

import dev.larder.distributed.internal.GroupDescriptor;

/**
 * What a rank does with the chunks of a call. In each step it puts one chunk, reduces the one before, where there is something to
 * reduce, and takes the one before that: so copying in, calculating and copying out of several ranks overlap with one meeting a step.
 *
 * <p>What is put in a step can be read by all after the next meeting, and is overwritten {@link GroupDescriptor#DEPTH} steps later.
 */
interface Exchange {
    /** How many bytes of a span a chunk has. */
    long chunkByteSize();

    /** Whether there is something to reduce between putting and taking. */
    boolean isReducing();

    /** Writes what the others need into slots of a step; {@code length} is that of this chunk. */
    void put(long offset, long length, int step);

    /** Reduces a chunk that was put in a step. */
    default void reduce(long offset, long length, int step) {
        throw new IllegalStateException("nothing to reduce");
    }

    /** Reads what the others have written for a chunk that was put in a step. */
    void take(long offset, long length, int step);

    /** Forgets the spans of the call. */
    void end();
}
