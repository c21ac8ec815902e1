package dev.larder.loader;

import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.ring.DeliveredBatch;
import dev.larder.loader.internal.ring.Pipeline;
import java.io.PrintStream;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * The batches of one epoch, in the order of the sampler with any number of threads. From its start, batches are filled ahead, and
 * uploaded if the loader has a device.
 *
 * <p>For one consuming thread. The loop may end early: the epoch ends when it is closed, when the next one begins or when the loader is
 * closed. From then on its loop throws {@link IllegalStateException}, so that it does not look complete.
 */
public final class Epoch implements Iterable<Batch>, AutoCloseable {
    private final Loader loader; // keeps the loader reachable while this is used
    private final Pipeline pipeline;
    private final Plan plan;
    private final StateContext states;
    private final @Nullable EpochProgress progress;
    private boolean iterated;

    Epoch(Loader loader, Pipeline pipeline, StateContext states, Plan plan, @Nullable PrintStream progress) {
        this.states = states;
        this.loader = loader;
        this.pipeline = pipeline;
        this.plan = plan;
        this.progress = progress == null ? null : new EpochProgress(plan, progress);
    }

    /** Returns the number of the epoch. */
    public long number() {
        return plan.epoch();
    }

    /** Returns the number of batches of this epoch, or of the rest of a resumed one, for this rank. */
    public long batches() {
        return plan.batches();
    }

    /** Returns the number of samples in its batches. */
    public long samples() {
        return plan.samples();
    }

    /**
     * Returns the only iterator of this epoch. Its {@code next} closes the last batch, unless it is kept, and waits for the next one, at
     * most for the loader's timeout; then it fails with {@code DEADLINE} and the reason. A failure to fill a batch is thrown in its place;
     * after a failure of a device, all later batches fail.
     */
    @Override
    public Iterator<Batch> iterator() {
        if (iterated) {
            throw new IllegalStateException(
                    "an epoch can be iterated once; begin it again with loader.epoch(" + number() + ")");
        }
        iterated = true;
        return new Batches();
    }

    /** Ends the epoch, and closes its batches except kept ones. Idempotent. */
    @Override
    public void close() {
        pipeline.end(plan);
    }

    @Override
    public String toString() {
        return "Epoch{" + number() + " of " + loader + "}";
    }

    private final class Batches implements Iterator<Batch> {
        private long next;
        private @Nullable DeliveredBatch before;

        @Override
        public boolean hasNext() {
            return next < plan.batches();
        }

        @Override
        public Batch next() {
            if (!hasNext()) {
                throw new NoSuchElementException("epoch has no more batches: batches=" + plan.batches());
            }
            DeliveredBatch delivery = pipeline.take(plan, before);
            before = delivery;
            next++;
            if (progress != null) {
                progress.delivered(next, delivery.slot().size);
            }
            return loader.show(delivery, states);
        }
    }
}
