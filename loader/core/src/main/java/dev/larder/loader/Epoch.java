package dev.larder.loader;

import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.ring.DeliveredBatch;
import dev.larder.loader.internal.ring.Pipeline;
import java.io.PrintStream;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * The batches of one epoch, in the order of the sampler whatever the number of threads; filled ahead, and uploaded where they go to
 * a device, from the moment the epoch begins.
 *
 * <p>For one consuming thread. To leave the loop early is fine: the epoch ends when it is closed, when the next one begins or
 * when the loader is closed. From then on its loop throws {@link IllegalStateException} rather than seeming complete.
 */
public final class Epoch implements Iterable<Batch>, AutoCloseable {
    private final Loader loader; // keeps the loader reachable while this is in use
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

    /** Returns how many batches the epoch has for this rank, or what is left of it. */
    public long batches() {
        return plan.batches();
    }

    /** Returns how many samples its batches have together. */
    public long samples() {
        return plan.samples();
    }

    /**
     * Returns the one iterator of this epoch. Its {@code next} closes the batch before, unless that is kept, and waits for the
     * next one: at most for the loader's timeout, then it fails with {@code DEADLINE} and says what it waited for. What keeps a
     * batch from being filled is thrown in the batch's place; a device that failed fails everything after it.
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

    /** Ends the epoch, and closes its batches but for those kept. Idempotent. */
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
