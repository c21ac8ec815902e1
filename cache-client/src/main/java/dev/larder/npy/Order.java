package dev.larder.npy;

/** The order in which the elements of an array lie in memory. */
public enum Order {
    /** The last index runs fastest. */
    C,
    /** The first index runs fastest. */
    F
}
