package dev.larder.npy;

/** The order of an array's elements in memory. */
public enum Order {
    /** The last index runs fastest. */
    C,
    /** The first index runs fastest. */
    F
}
