package dev.larder.loader.sample;

/** A sampler of this package that may lay down an order before its first row can be asked for. */
interface LaidDown {
    /** Returns how many bytes of heap that takes at most: 0 where it lays down nothing, or runs a user's own code. */
    long heapBytes(long rows);
}
