package dev.larder.loader;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.field.SourceData;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.plan.RankProgress;
import dev.larder.loader.internal.plan.Rest;
import dev.larder.loader.internal.slot.BatchSlot;
import dev.larder.loader.internal.slot.Receipt;
import dev.larder.loader.internal.slot.Remainder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The context of the states of one loader. Creates and checks states.
 *
 * @param isResumable whether the loader has states: an epoch next to the running one has none
 */
record StateContext(
        SourceData data,
        DataDigests digests,
        Places places,
        String sampler,
        long seed,
        boolean inOrder,
        String decoder,
        boolean anyDecoder,
        boolean isResumable) {
    /** The most samples of an order that are looked up to check a state: 0.5 s for a random order, 2.7 s for a permuted one. */
    private static final long MOST_CHECKED = 1L << 27;

    private static final String SHARD_INDEX = SourceData.HERE + "\\d+";
    private static final String SHARD = "/\\d+(" + SHARD_INDEX + ")?";

    /** Describes the progress of an epoch in each dataset. */
    @FunctionalInterface
    interface Places {
        /** Returns a short text; empty if all rows have one order. */
        String at(long epoch, long consumed);
    }

    /** Returns the state after a batch. */
    LoaderState after(BatchSlot batch) {
        String receipt = receipt(batch);
        Remainder remainder = Objects.requireNonNull(batch.remainder);
        long consumed = remainder.consumed(batch, inOrder);
        String progress = remainder.progress(batch, inOrder);
        return new LoaderState(
                data.name(),
                inOrder ? digests.whole() : digests.here(),
                sampler,
                seed,
                batch.epoch,
                consumed,
                batch.epochLength,
                decoder,
                progress,
                progress.isEmpty() ? places.at(batch.epoch, consumed) : "",
                receipt);
    }

    /** Returns the receipt after a batch; empty if that of the samples before a resume is unknown. */
    String receipt(BatchSlot batch) {
        if (!isResumable) {
            throw new IllegalStateException("an epoch beside another one has no state: begin it again");
        }
        Remainder remainder = Objects.requireNonNull(batch.remainder);
        Receipt receipt = remainder.receipt(batch, inOrder, digests.start());
        return receipt == null ? "" : receipt.toString();
    }

    /** Continues the receipt of a state; fails if the order has other samples before it. */
    void continueReceipt(Plan plan, LoaderState state) {
        if (state.receipt().isEmpty()) { // of an earlier release, or of a caller
            plan.continueReceipt(null);
            return;
        }
        Receipt saved = Receipt.parse(state.receipt()).minus(digests.start());
        if (state.consumed() <= MOST_CHECKED) {
            Receipt ordered = plan.receiptOfOrder();
            if (ordered.visited() != saved.visited()) {
                throw mismatch("state was saved after other samples than the order has")
                        .with("epoch", state.epoch())
                        .with("consumed", state.consumed())
                        .with("sampler", sampler)
                        .with("stateReceipt", state.receipt())
                        .with("receipt", digests.start().plus(ordered))
                        .remedy(
                                "resume with the release of Larder and the sampler that the state was saved with; or remove"
                                        + " its \"receipt\", and samples may come twice or not at all");
            }
        }
        plan.continueReceipt(saved);
    }

    /** Returns the context of epochs next to the running one. */
    StateContext beside() {
        return new StateContext(data, digests, places, sampler, seed, inOrder, decoder, anyDecoder, false);
    }

    /** Returns the rest of the epoch of a state, or null if its number of samples is enough. */
    @Nullable
    Rest rest(LoaderState state) {
        RankProgress progress = state.parsedProgress();
        if (progress == null) {
            return null;
        }
        if (progress.world() > 1) {
            throw mismatch("state is that of one rank, whose batches come in any order")
                    .with("rank", progress.rank())
                    .with("world", progress.world())
                    .remedy("gather the states of all ranks, and resume LoaderState.merged(states)");
        }
        return progress.rest(state.length());
    }

    /** Fails unless a state was saved over the same data, with the same order. */
    void requireFits(LoaderState state) {
        String saved = state.digest().equals(digests.here()) ? digests.whole() : state.digest();
        if (saved.replaceAll(SHARD_INDEX, "").equals(digests.whole()) && !saved.equals(digests.whole())) {
            throw mismatch("state is that of another node, whose ranks took batches of its rows in any order")
                    .with("stateDigest", state.digest())
                    .with("digest", digests.here())
                    .remedy("resume on each node the result of LoaderState.merged for the states of its ranks");
        }
        if (isOfOtherShards(saved, digests.whole())) {
            throw mismatch("state was saved on another number of nodes, each with a shard")
                    .with("stateDigest", state.digest())
                    .with("digest", digests.whole())
                    .remedy(
                            "start the same number of nodes; with whole data on each node, --data NAME=URI, any number can resume");
        }
        if (!saved.equals(digests.whole())) {
            throw mismatch("state was saved over other data")
                    .with("stateDataset", state.dataset())
                    .with("stateDigest", state.digest())
                    .with("digest", digests.whole())
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
                    .remedy("install that decoder or choose it: decode(colours, maxPixels, decoder); or call"
                            + " anyDecoder(), and batches may differ in the last bit of a pixel");
        }
    }

    private static boolean isOfOtherShards(String one, String other) {
        return !one.equals(other) && one.replaceAll(SHARD, "").equals(other.replaceAll(SHARD, ""));
    }

    private Failure mismatch(String what) {
        return data.failure(ErrorCode.BAD_INPUT, what);
    }
}
