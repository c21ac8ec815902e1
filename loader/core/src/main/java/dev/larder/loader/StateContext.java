package dev.larder.loader;

import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.slot.BatchSlot;

/** What the states of one loader belong to: makes and checks them. */
record StateContext(Dataset dataset, String sampler, long seed, boolean inOrder, String decoder, boolean anyDecoder) {
    /** Makes the state after a batch. */
    LoaderState after(BatchSlot batch) {
        if (!inOrder) {
            throw new IllegalStateException("batches in any order have no state to resume from; remove inAnyOrder()");
        }
        return new LoaderState(
                dataset.name(),
                dataset.digest(),
                sampler,
                seed,
                batch.epoch,
                batch.consumed,
                batch.epochLength,
                decoder);
    }

    /** Fails unless a state was saved over the same data, with the same order. */
    void requireFits(LoaderState state) {
        if (!state.digest().equals(dataset.digest())) {
            throw mismatch("state was saved over other data")
                    .with("stateDataset", state.dataset())
                    .with("stateDigest", state.digest())
                    .with("digest", dataset.digest())
                    .remedy("open that version with larder.datasetWithDigest(name, digest), or start over");
        }
        if (!state.sampler().equals(sampler) || state.seed() != seed) {
            throw mismatch("state was saved with another order")
                    .with("stateSampler", state.sampler())
                    .with("stateSeed", state.seed())
                    .with("sampler", sampler)
                    .with("seed", seed)
                    .remedy("build the loader with the sampler and the seed of the state");
        }
        if (!anyDecoder && !state.decoder().equals(decoder)) {
            throw mismatch("state was saved with another decoder of images")
                    .with("stateDecoder", state.decoder())
                    .with("decoder", decoder)
                    .remedy("install that one or choose it: decode(colours, maxPixels, decoder); or call"
                            + " anyDecoder(), and batches may differ in the last bit of a pixel");
        }
    }

    private Failure mismatch(String what) {
        return Failure.of(ErrorCode.BAD_INPUT, what)
                .with("dataset", dataset.name())
                .with("version", dataset.version());
    }
}
