package dev.larder.loader;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.loader.sample.Sampler;
import java.time.Duration;
import java.util.List;

/** Says what a {@link Loader} reads, in which order, and with what means. */
public final class LoaderBuilder {
    private static final int MAX_THREADS = 1024;

    private final Dataset dataset;
    private List<String> arrays = List.of();
    private Sampler sampler = Sampler.sequential();
    private int batchSize;
    private boolean dropLast;
    private int threads = Math.max(1, Math.min(8, Runtime.getRuntime().availableProcessors() - 1));
    private int depth = 4;
    private Duration timeout = Duration.ofSeconds(30);

    LoaderBuilder(Dataset dataset) {
        this.dataset = dataset;
    }

    /** Names the arrays whose rows make up a sample; without it, all of the dataset. They must have equally many rows. */
    public LoaderBuilder arrays(String... names) {
        arrays = List.of(names);
        return this;
    }

    /** Visits the rows as they lie: the default. */
    public LoaderBuilder sequential() {
        return sampler(Sampler.sequential());
    }

    /** Visits every row once, in PyTorch's random order for {@code seed + epoch}: see {@link Sampler#random}. */
    public LoaderBuilder shuffle(long seed) {
        return sampler(Sampler.random(seed));
    }

    /** Visits the rows that a sampler chooses. */
    public LoaderBuilder sampler(Sampler newSampler) {
        sampler = newSampler;
        return this;
    }

    /** Sets how many samples a batch has; required. */
    public LoaderBuilder batch(int size) {
        batchSize = require(size, 1, Integer.MAX_VALUE, "batch size");
        return this;
    }

    /** Leaves out the last batch of an epoch where it would be shorter than the others. */
    public LoaderBuilder dropLast(boolean drop) {
        dropLast = drop;
        return this;
    }

    /**
     * Sets how many threads gather ahead of the consumer; by default one less than there are processors, but 1 to 8. With none,
     * batches are gathered when they are asked for, by the consumer. The batches are the same whatever the number.
     */
    public LoaderBuilder threads(int count) {
        threads = require(count, 0, MAX_THREADS, "threads");
        return this;
    }

    /** Sets how many slots there are: batches that are filled ahead or open, 4 by default. Each takes a full batch's bytes. */
    public LoaderBuilder depth(int slots) {
        depth = require(slots, 1, 1 << 16, "depth");
        return this;
    }

    /** Sets how long the consumer waits for one batch; 30 s by default. */
    public LoaderBuilder timeout(Duration perBatch) {
        if (perBatch.isNegative() || perBatch.isZero()) {
            throw new IllegalArgumentException("timeout must be positive: timeout=" + perBatch);
        }
        timeout = perBatch;
        return this;
    }

    private static int require(int value, int min, int max, String what) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " must be " + min + " to " + max + ": " + value);
        }
        return value;
    }

    /** Checks that the arrays fit together, allocates the slots and starts the threads. */
    public Loader build() {
        if (batchSize == 0) {
            throw new IllegalStateException("batch size is not set; call batch(…)");
        }
        Source source = Source.of(dataset, arrays);
        long sampleBytes = 0;
        for (ArrayView array : source.arrays()) {
            long bytes = Math.multiplyExact(array.rowByteSize(), batchSize);
            if (bytes > Slot.MAX_BYTES) {
                throw source.failure(ErrorCode.BAD_INPUT, "batch of one array is too long")
                        .with("array", array.name())
                        .with("bytes", bytes)
                        .with("max", Slot.MAX_BYTES)
                        .remedy("choose a smaller batch(…)");
            }
            sampleBytes += array.rowByteSize();
        }
        return new Loader(source, new Settings(sampler, batchSize, dropLast, threads, depth, timeout), sampleBytes);
    }

    /** What a loader needs to know beside its source. */
    record Settings(Sampler sampler, int batchSize, boolean dropLast, int threads, int depth, Duration timeout) {}
}
