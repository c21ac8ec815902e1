package dev.larder.server.source;

/** What each of several nodes has of an array, where its dataset is cut into shards. */
public enum Partitioning {
    /** Some of its rows. */
    BY_ROWS,
    /** All of it: its rows are not those of the dataset, but what these refer to, such as the names of classes. */
    REPLICATED,
    /** Nothing, and the dataset is refused: its rows are found by the numbers in another array. */
    IMPOSSIBLE
}
