package dev.larder.loader.sample;

/** What becomes of the last batch of an epoch where samples do not suffice to fill it: of a whole epoch, and of a resumed one. */
public enum LastBatch {
    /** It is shorter, for some ranks perhaps empty. */
    SHORT,
    /** It is left out, and with it up to a batch of samples of each rank. */
    DROP,
    /** It is filled up with samples that other batches have, too, which {@code Batch.validSize} leaves out. */
    PAD
}
