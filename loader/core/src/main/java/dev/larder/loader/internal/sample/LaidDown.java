package dev.larder.loader.internal.sample;

/** A sampler that may compute its whole order before the first row is available. */
public interface LaidDown {
    /** Returns the most bytes of heap for that: 0 if it computes nothing first, or runs user code. */
    long heapBytes(long rows);
}
