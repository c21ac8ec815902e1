package dev.larder.npy;

/** The order of an array's elements in memory. */
public enum Order {
    /** The last index varies fastest. */
    C,
    /** The first index varies fastest. */
    F
}
