package dev.larder.loader;

import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.device.HostSlots;
import dev.larder.loader.internal.cuda.PageLocking;
import dev.larder.loader.internal.device.HostAllocator;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.SlotProvider;
import dev.larder.loader.internal.field.FieldSpec;
import dev.larder.loader.internal.field.SourceData;
import dev.larder.loader.internal.plan.EpochPlanner;
import dev.larder.loader.internal.plan.SamplePlan;
import dev.larder.loader.internal.ring.HostPipeline;
import dev.larder.loader.internal.ring.Pipeline;
import dev.larder.loader.internal.ring.PipelineSettings;
import dev.larder.loader.internal.slot.Collation;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.upload.DeviceSetup;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.LastBatch;
import dev.larder.loader.sample.Mixture;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import dev.larder.loader.transform.BatchFunction;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Configures what a {@link Loader} reads, in which order, and with which resources. */
public final class LoaderBuilder {
    private static final int MAX_THREADS = 1024;

    private static final int DEVICE_SLOTS = 4;

    private final SourceData data;
    private final @Nullable Mixture mixture;
    private final List<Field> fields = new ArrayList<>();
    private final List<OutputArray> outputs = new ArrayList<>();
    private @Nullable BatchFunction collate;
    private Sampler sampler = Sampler.sequential();
    private @Nullable BatchSampler batchSampler;
    private @Nullable Long seed;
    private long samplerSeed;
    private Shard shard = Shard.whole();
    private int batchSize;
    private boolean dropLast;
    private @Nullable LastBatch lastBatch;
    private FailurePolicy onFailure = FailurePolicy.fail();
    private int threads = PipelineSettings.USUAL_THREADS;
    private int prefetch = 4;
    private Duration timeout = Duration.ofSeconds(30);
    private boolean inOrder = true;
    private boolean anyDecoder;
    private @Nullable PrintStream progress;
    private Supplier<HostAllocator> allocator = () -> HostMemory::allocate;
    private @Nullable SlotProvider slots;
    private List<Device> devices = List.of();
    private @Nullable DeviceMode deviceMode;
    private @Nullable Long deviceBudgetBytes;
    private @Nullable Integer deviceSlots;

    LoaderBuilder(SourceData data, @Nullable Mixture mixture) {
        this.data = data;
        this.mixture = mixture;
    }

    // ---- the content of a sample

    /** Adds arrays; a sample is a row of each. By default, all arrays of the dataset. They must have the same number of rows. */
    public LoaderBuilder arrays(String... names) {
        return fields(Stream.of(names).map(Field::rows).toArray(Field[]::new));
    }

    /** Adds fields to a sample: rows that are looked up, ragged rows, texts. */
    public LoaderBuilder fields(Field... more) {
        fields.addAll(List.of(more));
        return this;
    }

    /**
     * Transforms an array or field, by its name in batches, on the way into the batch; appends the steps to earlier ones for it.
     */
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

    /**
     * Changes whole batches after all fields are filled, on the loader's threads: mixes samples, masks tokens. The function changes arrays
     * in place, and fills those that {@link #output} declares. Its random numbers depend on the loader's seed, the epoch and the position
     * of the batch's first sample. With a device, fields are gathered and transformed on the host, and uploaded after the function. If the
     * function fails, the batch fails; it is not called for a batch without samples.
     */
    public LoaderBuilder collate(BatchFunction function) {
        collate = Objects.requireNonNull(function);
        return this;
    }

    /** Adds an array to each batch, {@code [batch, rowShape…]}, which the function of {@link #collate} fills; zeros at first. */
    public LoaderBuilder output(String name, Dtype dtype, long... rowShape) {
        for (long size : rowShape) {
            if (size < 0) {
                throw new IllegalArgumentException(
                        "a dimension is negative: name=" + name + " rowShape=" + Arrays.toString(rowShape));
            }
        }
        outputs.add(new OutputArray(name, dtype, rowShape));
        return this;
    }

    // ---- samples and their order

    /** Visits the rows in the order of the arrays: the default. */
    public LoaderBuilder sequential() {
        return sampler(Sampler.sequential());
    }

    /**
     * Visits every row once, in PyTorch's random order for {@code seed + epoch}: see {@link Sampler#random}. Random transforms use the
     * same seed, unless {@link #seed} sets another. For very many rows, {@link Sampler#permuted} needs no memory.
     */
    public LoaderBuilder shuffle(long newSeed) {
        samplerSeed = newSeed;
        return sampler(Sampler.random(newSeed));
    }

    /** Visits the rows of a sampler. */
    public LoaderBuilder sampler(Sampler newSampler) {
        sampler = newSampler;
        return this;
    }

    /** Visits the batches of a sampler; instead of {@link #batchSize}. */
    public LoaderBuilder batches(BatchSampler newSampler) {
        batchSampler = newSampler;
        return this;
    }

    /**
     * Sets the seed of random transforms: their numbers depend on (seed, epoch, position in the epoch, step, field). Fields have
     * independent numbers unless {@link Field#together} joins them. Loaders with equal seeds and equal names of fields have equal numbers.
     */
    public LoaderBuilder seed(long newSeed) {
        seed = newSeed;
        return this;
    }

    /**
     * Visits the part of one rank, as PyTorch's {@code DistributedSampler} does: see {@link Shard#of}. If each node of a run has a shard of
     * the dataset, still give the rank among all nodes; it visits its part of the rows of its node.
     */
    public LoaderBuilder shard(int rank, int world) {
        return shard(Shard.of(rank, world));
    }

    /** Visits the part of one rank. */
    public LoaderBuilder shard(Shard newShard) {
        shard = newShard;
        return this;
    }

    /** Sets the number of samples in a batch of one rank. */
    public LoaderBuilder batchSize(int size) {
        batchSize = require(size, 1, Integer.MAX_VALUE, "batch size");
        return this;
    }

    /**
     * Omits the last batch of an epoch if it is smaller than the others. A resumed epoch has all remaining samples of the stopped one, so
     * with another batch size or number of ranks, its last batch may still be smaller; {@link #lastBatch} covers that, too.
     */
    public LoaderBuilder dropLast(boolean drop) {
        dropLast = drop;
        return this;
    }

    /**
     * Sets the action for the last batch of an epoch, whole or resumed, instead of {@link #dropLast}. With {@link LastBatch#DROP} and
     * {@link LastBatch#PAD} all batches have the same shape. {@code DROP} omits samples that do not fill a batch, also of a resumed epoch.
     * {@code PAD} omits none: samples from the start of the epoch fill the last batch, and {@link Batch#validSize} does not count them.
     * With it, {@link Shard#exact} and {@link #batches} give no rank an empty batch.
     */
    public LoaderBuilder lastBatch(LastBatch last) {
        lastBatch = last;
        return this;
    }

    /** Sets the action for samples that cannot be read or transformed; by default, they fail the epoch. */
    public LoaderBuilder onFailure(FailurePolicy policy) {
        onFailure = policy;
        return this;
    }

    /**
     * Allows to resume states of another image decoder, such as another version of its library. By default, they are refused, because
     * batches could differ in the last bit of a pixel.
     */
    public LoaderBuilder anyDecoder() {
        anyDecoder = true;
        return this;
    }

    // ---- resources

    /**
     * Sets the number of threads that gather ahead of the consumer; by default, one less than processors, but 1 to 8; as
     * many as processors if rows of 64 KiB or more lie on a disk. With 0, the
     * consumer gathers each batch itself. The number does not change the batches.
     */
    public LoaderBuilder threads(int count) {
        threads = require(count, 0, MAX_THREADS, "threads");
        return this;
    }

    /** Sets the number of slots, for batches that are filled ahead or open; 4 by default. A slot takes the bytes of a full batch. */
    public LoaderBuilder prefetch(int batches) {
        prefetch = require(batches, 1, 1 << 16, "prefetch");
        return this;
    }

    /**
     * Delivers batches when they are ready instead of in order, for batches with very different times. Their content is the same, and
     * {@link Batch#number} identifies them. {@link Batch#stateAfter} lists the consumed batches, of one rank if there are several; {@link
     * LoaderState#merged} combines them. It helps only with more {@link #threads} and {@link #prefetch} than slow batches at a time.
     */
    public LoaderBuilder inAnyOrder() {
        inOrder = false;
        return this;
    }

    /**
     * Gathers batches directly into the slots of {@link dev.larder.loader.fanout.BatchPublisher#slots}, so that publishing copies nothing.
     * Then {@link #prefetch} has no effect, and the epochs are only for publishing. The slots have one size and are used in order: batches
     * of ragged rows, of {@link #batches} and {@link #inAnyOrder} are gathered into memory of the loader, and copied when they are
     * published. Not with {@link #device}.
     */
    public LoaderBuilder into(HostSlots shared) {
        if (!(shared instanceof SlotProvider provider)) {
            throw new IllegalArgumentException("not the slots of a BatchPublisher: " + shared);
        }
        slots = provider;
        return this;
    }

    /**
     * Locks the pages of the slots with the CUDA driver, so that a trainer's own upload of a batch to a GPU runs at the speed of the
     * link. Requires {@code libcuda} and a device, else {@link #build} fails with {@code NOT_FOUND} and the remedy. The pages are unlocked
     * when the loader is closed; buffers of its batches then remain readable, but copy slowly. With {@link #device} it matters only if
     * batches stay on the host, because a device has its own locked memory.
     */
    public LoaderBuilder pinMemory() {
        return slotMemory(PageLocking::open);
    }

    /** Sets the factory of the allocator for slots, which is called when the loader is built. */
    LoaderBuilder slotMemory(Supplier<HostAllocator> opener) {
        allocator = opener;
        return this;
    }

    /** Sets the time limit of the consumer for one batch; 30 s by default. */
    public LoaderBuilder timeout(Duration perBatch) {
        if (perBatch.isNegative() || perBatch.isZero()) {
            throw new IllegalArgumentException("timeout must be positive: timeout=" + perBatch);
        }
        timeout = perBatch;
        return this;
    }

    /**
     * Shows the progress of each epoch, usually on {@code System.err}: one changing line if standard error is a terminal, else a line every
     * ten seconds and one at the end.
     */
    public LoaderBuilder progress(PrintStream target) {
        progress = target;
        return this;
    }

    // ---- devices

    /**
     * Uploads batches to a device ahead of the consumer, with the same bytes. With several devices, each gets a part of every batch. By
     * default, and if the device is the host ({@link Device#host}) or falls back to it, batches are in host memory. Later loaders of this
     * builder have the device, too.
     */
    public LoaderBuilder device(Device... names) {
        if (names.length == 0) {
            throw new IllegalArgumentException("name a device, such as Device.auto()");
        }
        devices = List.of(names);
        return this;
    }

    /** Sets how rows reach the device; {@link DeviceMode#AUTO} by default. Only with {@link #device}. */
    public LoaderBuilder deviceMode(DeviceMode mode) {
        deviceMode = Objects.requireNonNull(mode);
        return this;
    }

    /**
     * Sets the most bytes of a device that {@link DeviceMode#AUTO} fills with whole arrays; half of its memory by default. Only with
     * {@link #device}.
     */
    public LoaderBuilder deviceBudgetBytes(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("budget is negative: bytes=" + bytes);
        }
        deviceBudgetBytes = bytes;
        return this;
    }

    /**
     * Sets the number of slots on a device, for batches that are uploaded ahead or open; 4 by default. If batches stay on the host, it
     * counts as {@link #prefetch} if it is larger. Only with {@link #device}.
     */
    public LoaderBuilder deviceSlots(int count) {
        deviceSlots = require(count, 1, 1 << 10, "device slots");
        return this;
    }

    private static int require(int value, int min, int max, String what) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " must be " + min + " to " + max + ": " + value);
        }
        return value;
    }

    /**
     * Checks that the fields fit together, opens the devices, allocates memory and starts the threads. If a device has too little memory,
     * there are fewer slots. If there is no memory for one, arrays are streamed instead of resident, unless {@code RESIDENT} is set and
     * the device may not fall back to the host; then batches stay on the host if the device may fall back; else it fails with {@code
     * NO_SPACE} and numbers.
     */
    public Loader build() {
        requireOneWayToMakeBatches();
        requireDeviceIfItCounts();
        if (slots != null && !devices.isEmpty()) {
            throw new IllegalStateException(
                    "batches on a device are not gathered into shared slots: remove device(…) or into(…)");
        }
        Shard own = data.here(shard);
        EpochPlanner planner = planner(sampler, own);
        PipelineSettings settings = settings(planner);
        Pipeline pipeline = open(settings, deviceMode == null ? DeviceMode.AUTO : deviceMode);
        long[] sizes = pipeline.host().source().samplesOfDatasets();
        Sampler visited = visited(pipeline, settings.seed(), sizes);
        EpochPlanner ordered = planner(visited, own);
        String order = (batchSampler == null ? visited.description() : batchSampler.description())
                + FieldSpec.windows(settings.fields());
        LoaderBuilder frozen = copyOfMeans();
        Beside beside =
                new Beside(() -> frozen.open(settings.withOwnSlots(), DeviceMode.STREAM), batchSize, last(), own);
        StateContext states = new StateContext(
                data,
                new DataDigests(data),
                places(sampler, settings.seed(), sizes),
                order,
                settings.seed(),
                inOrder,
                pipeline.host().source().decoder(),
                anyDecoder,
                true);
        return new Loader(pipeline, ordered, beside, states, progress);
    }

    /** Returns the sampler over all datasets together. */
    private Sampler visited(Pipeline pipeline, long mixingSeed, long[] sizes) {
        try {
            return mixture == null ? sampler : mixture.sampler(sampler, mixingSeed, sizes);
        } catch (RuntimeException e) {
            pipeline.close();
            throw e;
        }
    }

    private StateContext.Places places(Sampler within, long mixingSeed, long[] sizes) {
        String[] names = data.datasets().stream().map(Dataset::name).toArray(String[]::new);
        Mixture mixed = mixture;
        if (mixed != null) {
            return (epoch, consumed) -> mixed.placesAfter(within, mixingSeed, sizes, names, epoch, consumed);
        }
        boolean sideBySide = !data.isOne() && data.joins() == SourceData.Joins.ZIP;
        return (epoch, consumed) ->
                sideBySide ? Stream.of(names).map(name -> name + "=" + consumed).collect(Collectors.joining(" ")) : "";
    }

    /** Copies the settings for {@link #open}, because the caller may change and reuse the builder. */
    private LoaderBuilder copyOfMeans() {
        LoaderBuilder copy = new LoaderBuilder(data, mixture);
        copy.prefetch = prefetch;
        copy.devices = devices;
        copy.deviceBudgetBytes = deviceBudgetBytes;
        copy.deviceSlots = deviceSlots;
        return copy;
    }

    private Pipeline open(PipelineSettings settings, DeviceMode mode) {
        return devices.isEmpty()
                ? HostPipeline.open(settings, prefetch)
                : DeviceSetup.open(
                        settings,
                        new DeviceSetup.Wishes(
                                devices,
                                mode,
                                deviceBudgetBytes == null ? -1 : deviceBudgetBytes,
                                deviceSlots == null ? DEVICE_SLOTS : deviceSlots));
    }

    private LastBatch last() {
        return lastBatch == null ? dropLast ? LastBatch.DROP : LastBatch.SHORT : lastBatch;
    }

    private PipelineSettings settings(EpochPlanner planner) {
        return new PipelineSettings(
                data,
                fields.stream().map(Field::spec).toList(),
                collate == null ? null : new Collation(collate, outputs),
                seed == null ? samplerSeed : seed,
                batchSize,
                threads,
                prefetch,
                inOrder,
                planner.runsUserCode(),
                onFailure.retries(),
                onFailure.maxSkipped(),
                timeout,
                allocator,
                slots);
    }

    private EpochPlanner planner(Sampler visited, Shard own) {
        return batchSampler == null
                ? new EpochPlanner.OfSamples(
                        visited, new SamplePlan.Batching(batchSize, last(), lastBatch == null, own))
                : new EpochPlanner.OfBatches(batchSampler, own, last() == LastBatch.PAD);
    }

    private void requireDeviceIfItCounts() {
        if (devices.isEmpty() && (deviceMode != null || deviceBudgetBytes != null || deviceSlots != null)) {
            throw new IllegalStateException(
                    "deviceMode(…), deviceBudgetBytes(…) and deviceSlots(…) are for batches on a device: name it with device(…), or"
                            + " remove them");
        }
    }

    private void requireOneWayToMakeBatches() {
        if (batchSampler != null && mixture != null) {
            throw new IllegalStateException(
                    "a mixture chooses which samples follow each other: use batchSize(…) instead of batches(…)");
        }
        if (batchSampler == null && batchSize == 0) {
            throw new IllegalStateException("batch size is not set; call batchSize(…)");
        }
        if (collate == null && !outputs.isEmpty()) {
            throw new IllegalStateException(
                    "nothing fills the arrays of output(…): call collate(…), too: outputs=" + outputs);
        }
        if (dropLast && lastBatch != null) {
            throw new IllegalStateException(
                    "dropLast(…) and lastBatch(…) both set the action for the last batch: remove one");
        }
        if (batchSampler != null && (batchSize != 0 || last() == LastBatch.DROP)) {
            throw new IllegalStateException(
                    "the sampler of batches(…) makes the batches: remove batchSize(…) and dropLast(…)");
        }
        if (last() == LastBatch.DROP && shard.tail() == Shard.Tail.EXACT) {
            throw Failure.of(ErrorCode.USAGE, "exact shards visit every sample, dropLast omits some")
                    .remedy("remove one of them");
        }
    }
}
