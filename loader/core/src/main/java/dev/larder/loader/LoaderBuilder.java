package dev.larder.loader;

import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.cuda.PageLocking;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.HostAllocator;
import dev.larder.loader.device.HostMemory;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import dev.larder.loader.transform.Transform;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Configures what a {@link Loader} reads, in which order, and with which resources. */
public final class LoaderBuilder {
    private static final int MAX_THREADS = 1024;

    /** What slots of batches of unknown size have room for at first. */
    private static final int USUAL_BATCH = 64;

    private static final long USUAL_BATCH_BYTES = 16 << 20;

    private final Dataset dataset;
    private final List<Field> fields = new ArrayList<>();
    private Sampler sampler = Sampler.sequential();
    private @Nullable BatchSampler batchSampler;
    private @Nullable Long seed;
    private long samplerSeed;
    private Shard shard = Shard.whole();
    private int batchSize;
    private boolean dropLast;
    private FailurePolicy onFailure = FailurePolicy.fail();
    private int threads = Math.max(1, Math.min(8, Runtime.getRuntime().availableProcessors() - 1));
    private int prefetch = 4;
    private Duration timeout = Duration.ofSeconds(30);
    private boolean inOrder = true;
    private @Nullable PrintStream progress;
    private Supplier<HostAllocator> allocator = () -> HostMemory::allocate;

    LoaderBuilder(Dataset dataset) {
        this.dataset = dataset;
    }

    // ---- what a sample is

    /** Names arrays whose rows make up a sample; without any field, all of the dataset. They must have equally many rows. */
    public LoaderBuilder arrays(String... names) {
        return fields(Stream.of(names).map(Field::rows).toArray(Field[]::new));
    }

    /** Adds parts of a sample: rows that are looked up, ragged rows, texts. */
    public LoaderBuilder fields(Field... more) {
        fields.addAll(List.of(more));
        return this;
    }

    /** Transforms one of the arrays and fields that were named, by its name in batches, on the way into the batch. */
    public LoaderBuilder transform(String name, Transform transform) {
        if (fields.isEmpty()) {
            throw new IllegalStateException("no array is named yet: call arrays(…) or fields(…) before transform(…)");
        }
        List<String> names = fields.stream().map(Field::name).toList();
        int place = names.indexOf(name);
        if (place < 0) {
            throw new IllegalArgumentException("no array or field of this name: name=" + name + " names=" + names);
        }
        fields.set(place, fields.get(place).transform(transform));
        return this;
    }

    // ---- which samples, in which order

    /** Visits the rows as they lie: the default. */
    public LoaderBuilder sequential() {
        return sampler(Sampler.sequential());
    }

    /**
     * Visits every row once, in PyTorch's random order for {@code seed + epoch}: see {@link Sampler#random}. Random transforms
     * draw from this seed too, unless {@link #seed} sets another.
     */
    public LoaderBuilder shuffle(long newSeed) {
        samplerSeed = newSeed;
        return sampler(Sampler.random(newSeed));
    }

    /** Visits the rows that a sampler chooses. */
    public LoaderBuilder sampler(Sampler newSampler) {
        sampler = newSampler;
        return this;
    }

    /** Visits the rows that a sampler chooses, in the batches that it makes of them; instead of {@link #batch}. */
    public LoaderBuilder batches(BatchSampler newSampler) {
        batchSampler = newSampler;
        return this;
    }

    /**
     * Sets what random transforms draw from: (seed, epoch, place in the epoch, step, field). Two fields draw apart unless they are
     * declared to draw together ({@link Field#together}). Two loaders with one seed and one name for a field draw alike.
     */
    public LoaderBuilder seed(long newSeed) {
        seed = newSeed;
        return this;
    }

    /** Visits the part of one rank, as PyTorch's {@code DistributedSampler} deals it out: see {@link Shard#of}. */
    public LoaderBuilder shard(int rank, int world) {
        return shard(Shard.of(rank, world));
    }

    /** Visits the part of one rank. */
    public LoaderBuilder shard(Shard newShard) {
        shard = newShard;
        return this;
    }

    /** Sets how many samples a batch of one rank has. */
    public LoaderBuilder batch(int size) {
        batchSize = require(size, 1, Integer.MAX_VALUE, "batch size");
        return this;
    }

    /**
     * Leaves out the last batch of an epoch where it would be shorter than the others. A resumed epoch has all that was left of the
     * one that was stopped, so its last batch may be shorter all the same, with another batch size or number of ranks.
     */
    public LoaderBuilder dropLast(boolean drop) {
        dropLast = drop;
        return this;
    }

    /** Sets what becomes of samples that cannot be read or transformed; without it, they fail the epoch. */
    public LoaderBuilder onFailure(FailurePolicy policy) {
        onFailure = policy;
        return this;
    }

    // ---- with what means

    /**
     * Sets how many threads gather ahead of the consumer; by default one less than there are processors, but 1 to 8. With none,
     * batches are gathered when they are asked for, by the consumer. The batches are the same whatever the number.
     */
    public LoaderBuilder threads(int count) {
        threads = require(count, 0, MAX_THREADS, "threads");
        return this;
    }

    /** Sets how many batches are filled ahead or open, 4 by default. Each has a slot, which takes a full batch's bytes. */
    public LoaderBuilder prefetch(int batches) {
        prefetch = require(batches, 1, 1 << 16, "prefetch");
        return this;
    }

    /**
     * Delivers batches as they are ready, where some take much longer than others, instead of in their order. What each of them
     * holds stays the same, and {@link Batch#number} says which one it is; {@link Batch#stateAfter} is not to be had, as no place
     * in the epoch stands for what was consumed.
     */
    public LoaderBuilder inAnyOrder() {
        inOrder = false;
        return this;
    }

    /**
     * Locks the pages of the slots with the CUDA driver, so that a trainer's own upload of a batch to a GPU runs at the speed of
     * the link. Asks for {@code libcuda} and a device: without them, {@link #build} fails with {@code NOT_FOUND} and the remedy.
     * Unlocked when the loader is closed; buffers of its batches that somebody holds can still be read then, but copy slowly.
     * With {@link #device} it counts only where batches stay on the host: the device has locked memory of its own.
     */
    public LoaderBuilder pinMemory() {
        return slotMemory(PageLocking::open);
    }

    /** Sets what opens the allocator of the slots' memory when the loader is built. */
    LoaderBuilder slotMemory(Supplier<HostAllocator> opener) {
        allocator = opener;
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

    /**
     * Shows how far each epoch has come, mostly on {@code System.err}: one line that is drawn again and again where standard error
     * is a terminal, else a line every ten seconds and one at the end.
     */
    public LoaderBuilder progress(PrintStream target) {
        progress = target;
        return this;
    }

    /** Brings batches to a device; what was said so far holds there too. With several devices, each gets its part of every batch. */
    public DeviceLoaderBuilder device(Device... devices) {
        return new DeviceLoaderBuilder(this, List.of(devices));
    }

    static int require(int value, int min, int max, String what) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " must be " + min + " to " + max + ": " + value);
        }
        return value;
    }

    /** Checks that the fields fit together, allocates the slots and starts the threads. */
    public Loader build() {
        Source source = source(FieldOpener.RowsForm.finished(transformSeed()));
        return build(source, allocator(), prefetch, new Delivery(timeout, false));
    }

    /**
     * How batches are taken.
     *
     * @param timeout how long to wait for one
     * @param keeps whether they stay open until they are closed, whatever becomes of their epoch
     */
    record Delivery(Duration timeout, boolean keeps) {}

    /** Opens what the fields name. */
    Source source(FieldOpener.RowsForm rowsForm) {
        requireOneWayToMakeBatches();
        return Source.of(dataset, List.copyOf(fields), rowsForm);
    }

    Dataset dataset() {
        return dataset;
    }

    List<Field> fields() {
        return List.copyOf(fields);
    }

    /** Opens what the slots take their memory from. */
    HostAllocator allocator() {
        return allocator.get();
    }

    int prefetch() {
        return prefetch;
    }

    Duration timeout() {
        return timeout;
    }

    /** Returns what random transforms draw from. */
    long transformSeed() {
        return seed == null ? samplerSeed : seed;
    }

    /** Returns how many samples slots have room for, at first at least. */
    int samples(Source source) {
        return batchSampler == null ? batchSize : usualBatch(source);
    }

    /** Checks that batches are not too long, allocates the slots and starts the threads. */
    Loader build(Source source, HostAllocator memory, int slots, Delivery delivery) {
        int samples = samples(source);
        for (OutputArray array : source.arrays()) {
            long bytes = Math.multiplyExact(array.rowByteSize(), samples);
            if (bytes > SlotArray.MAX_BYTES) {
                throw source.failure(ErrorCode.BAD_INPUT, "batch of one array is too long")
                        .with("array", array.name())
                        .with("bytes", bytes)
                        .with("max", SlotArray.MAX_BYTES)
                        .remedy("choose a smaller batch(…)");
            }
        }
        String description = batchSampler == null ? sampler.description() : batchSampler.description();
        States states = new States(dataset, description, transformSeed(), inOrder);
        LoaderSettings settings =
                new LoaderSettings(samples, threads, slots, delivery, inOrder, onFailure, progress, memory);
        return new Loader(source, epochs(), states, settings);
    }

    /** Returns how many samples slots have room for at first where batches are of any size. */
    private static int usualBatch(Source source) {
        long largest = source.arrays().stream()
                .mapToLong(OutputArray::rowByteSize)
                .max()
                .orElse(1);
        return (int) Math.max(1, Math.min(USUAL_BATCH, USUAL_BATCH_BYTES / Math.max(1, largest)));
    }

    private Epochs epochs() {
        return batchSampler == null
                ? new Epochs.OfSamples(sampler, new SamplePlan.Batching(batchSize, dropLast, shard))
                : new Epochs.OfBatches(batchSampler, shard);
    }

    private void requireOneWayToMakeBatches() {
        if (batchSampler == null && batchSize == 0) {
            throw new IllegalStateException("batch size is not set; call batch(…)");
        }
        if (batchSampler != null && (batchSize != 0 || dropLast)) {
            throw new IllegalStateException(
                    "the sampler given to batches(…) makes the batches: leave batch(…) and dropLast(…) out");
        }
        if (dropLast && shard.tail() == Shard.Tail.EXACT) {
            throw Failure.of(ErrorCode.USAGE, "exact shards visit every sample, dropLast leaves some out")
                    .remedy("leave one of them out");
        }
    }
}
