package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.LaidDown;
import dev.larder.loader.internal.sample.OrderThread;
import dev.larder.loader.internal.sample.Requirements;

/** Visits the rows of a subset in the order of a sampler. */
record RestrictedSampler(Sampler sampler, Subset subset) implements Sampler, LaidDown {
    @Override
    public SampleOrder order(long rows, long epoch) {
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

    private record RestrictedOrder(SampleOrder places, Subset subset) implements SampleOrder {
        @Override
        public long length() {
            return places.length();
        }

        @Override
        public long row(long position) {
            return subset.row(places.row(position));
        }
    }
}
