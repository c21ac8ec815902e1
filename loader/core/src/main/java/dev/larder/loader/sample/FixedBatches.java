package dev.larder.loader.sample;

import dev.larder.loader.internal.sample.LaidDown;
import dev.larder.loader.internal.sample.OrderThread;
import java.util.Objects;

/** Batches of a fixed size, in the order of a sampler. */
record FixedBatches(Sampler sampler, int batchSize, boolean dropLast) implements BatchSampler, LaidDown {
    FixedBatches {
        if (batchSize < 1) {
            throw new IllegalArgumentException("batch size must be at least 1: batchSize=" + batchSize);
        }
    }

    @Override
    public BatchOrder order(long rows, long epoch) {
        SampleOrder order = sampler.order(rows, epoch);
        long length = order.length();
        return new Order(order, batchSize, dropLast ? length - length % batchSize : length);
    }

    @Override
    public long heapBytes(long rows) {
        return OrderThread.heapBytes(sampler, rows);
    }

    @Override
    public BatchSampler over(Subset subset) {
        return new FixedBatches(sampler.over(subset), batchSize, dropLast);
    }

    @Override
    public String description() {
        return sampler.description() + " in batches(size=" + batchSize + (dropLast ? " dropLast)" : ")");
    }

    @Override
    public String toString() {
        return description();
    }

    private record Order(SampleOrder samples, int batchSize, long length) implements BatchOrder {
        @Override
        public long batches() {
            return length / batchSize + (length % batchSize == 0 ? 0 : 1);
        }

        @Override
        public long first(long batch) {
            long batches = batches();
            Objects.checkIndex(batch, batches + 1);
            return batch == batches ? length : batch * batchSize;
        }

        @Override
        public long row(long position) {
            return samples.row(Objects.checkIndex(position, length));
        }
    }
}
