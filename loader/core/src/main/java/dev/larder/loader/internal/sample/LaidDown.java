package dev.larder.loader.internal.sample;

/** A sampler that may lay down an order before its first row can be asked for. */
public interface LaidDown {
    /** Returns how many bytes of heap that takes at most: 0 where it lays down nothing, or runs a user's own code. */
    long heapBytes(long rows);
}
