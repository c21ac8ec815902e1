package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.LaidDown;
import dev.larder.loader.internal.sample.OrderThread;
import dev.larder.loader.internal.sample.Requirements;

/** Makes batches of a subset's rows as a sampler makes them of its places. */
record RestrictedBatches(BatchSampler sampler, Subset subset) implements BatchSampler, LaidDown {
    @Override
    public BatchOrder order(long rows, long epoch) {
        Requirements.rows(subset.list(), rows);
        return new RestrictedOrder(sampler.order(subset.size(), epoch), subset);
    }

    @Override
    public long heapBytes(long rows) {
        return OrderThread.heapBytes(sampler, subset.size());
    }

    @Override
    public String description() {
        return sampler.description() + " over " + subset.description();
    }

    @Override
    public String toString() {
        return description();
    }

    private record RestrictedOrder(BatchOrder places, Subset subset) implements BatchOrder {
        @Override
        public long batches() {
            return places.batches();
        }

        @Override
        public long first(long batch) {
            return places.first(batch);
        }

        @Override
        public long row(long position) {
            return subset.row(places.row(position));
        }
    }
}
