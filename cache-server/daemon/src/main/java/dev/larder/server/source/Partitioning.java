package dev.larder.server.source;

/** The part of an array that each node has if a dataset is cut into shards. */
public enum Partitioning {
    /** Some of its rows. */
    BY_ROWS,
    /** All of it: its rows are not those of the dataset. They are, for example, names of classes. */
    REPLICATED,
    /** Nothing, and the dataset is refused: its rows are found by the numbers in another array. */
    IMPOSSIBLE
}
