package dev.larder.loader.sample;

/** The action for an incomplete last batch of an epoch, whole or resumed. */
public enum LastBatch {
    /** It is smaller, and may be empty for some ranks. */
    SHORT,
    /** It is omitted, with less than a batch of samples of each rank. */
    DROP,
    /** It is filled with samples of other batches, which {@code Batch.validSize} does not count. */
    PAD
}
