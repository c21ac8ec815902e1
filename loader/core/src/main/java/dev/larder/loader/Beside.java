package dev.larder.loader;

import dev.larder.loader.internal.plan.EpochPlanner;
import dev.larder.loader.internal.plan.SamplePlan;
import dev.larder.loader.internal.ring.Pipeline;
import dev.larder.loader.sample.LastBatch;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The pipeline for an epoch next to the running one, opened at its first use. Thread-safe; holds no reference to the loader. */
final class Beside {
    private final Supplier<Pipeline> opener;
    private final int batchSize;
    private final LastBatch last;
    private final Shard shard;
    private @Nullable Pipeline pipeline;
    private boolean closed;

    Beside(Supplier<Pipeline> opener, int batchSize, LastBatch last, Shard shard) {
        this.opener = opener;
        this.batchSize = batchSize;
        this.last = last;
        this.shard = shard;
    }

    /** Returns a planner for epochs that visit every sample once. */
    EpochPlanner planner(Sampler sampler) {
        LastBatch kept = last == LastBatch.PAD ? LastBatch.PAD : LastBatch.SHORT;
        return new EpochPlanner.OfSamples(sampler, new SamplePlan.Batching(batchSize, kept, false, shard.exact()));
    }

    synchronized Pipeline open() {
        if (batchSize == 0) {
            throw new IllegalStateException(
                    "the sampler given to batches(…) makes the batches: build another loader for an epoch beside this one");
        }
        if (closed) {
            throw new IllegalStateException("loader is closed");
        }
        if (pipeline == null) {
            pipeline = opener.get();
        }
        return pipeline;
    }

    synchronized void abandon() {
        closed = true;
        if (pipeline != null) {
            pipeline.abandon();
        }
    }

    void close() {
        Pipeline opened;
        synchronized (this) {
            closed = true;
            opened = pipeline;
        }
        if (opened != null) {
            opened.close();
        }
    }
}
