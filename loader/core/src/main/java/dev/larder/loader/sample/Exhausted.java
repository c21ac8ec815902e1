package dev.larder.loader.sample;

/** What happens when a source of a {@link Mixture} has no rows left in an epoch. */
public enum Exhausted {
    /** The epoch ends: no row comes twice, and sources with more rows than their share keep some for other epochs. */
    STOP,
    /** The source begins again, in its next order; the epoch ends when all have been visited once, or after so many samples as were set. */
    REPEAT,
    /** The source drops out, the others go on in proportion to their weights: every row comes once. */
    UNTIL_ALL
}
