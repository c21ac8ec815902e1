package dev.larder.loader.sample;

/** The action when a source of a {@link Mixture} has no rows left in an epoch. */
public enum Exhausted {
    /** The epoch ends: no row comes twice, and sources with more rows than their share keep some for other epochs. */
    STOP,
    /** The source begins again, in its next order; the epoch ends when every row was visited once, or after {@link Mixture#samples}. */
    REPEAT,
    /** The other sources continue in proportion to their weights: every row comes once. */
    UNTIL_ALL
}
