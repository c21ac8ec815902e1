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
    private int threads = Math.max(1, Math.min(8, Runtime.getRuntime().availableProcessors() - 1));
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

    /**
     * Transforms one of the arrays and fields that were named, by its name in batches, on the way into the batch: adds
     * these steps to those that were declared for it before.
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
     * Changes batches as a whole when all fields have filled them, in the loader's threads: mixes samples, masks tokens. The function changes
     * arrays where they are, and fills those that {@link #output} declares. What it draws depends on the loader's seed, the epoch
     * and the place of the batch's first sample in it. On a device, fields are gathered and transformed on the host then, and
     * uploaded when the function is done. A function that fails, fails the batch; it is not called for one without samples.
     */
    public LoaderBuilder collate(BatchFunction function) {
        collate = Objects.requireNonNull(function);
        return this;
    }

    /** Declares one more array of each batch, {@code [batch, rowShape…]}, which the function given to {@link #collate} fills; zeros at first. */
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

    // ---- which samples, in which order

    /** Visits the rows as they lie: the default. */
    public LoaderBuilder sequential() {
        return sampler(Sampler.sequential());
    }

    /**
     * Visits every row once, in PyTorch's random order for {@code seed + epoch}: see {@link Sampler#random}. Random transforms
     * draw from this seed too, unless {@link #seed} sets another. For very many rows, {@link Sampler#permuted} needs no memory.
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

    /**
     * Visits the part of one rank, as PyTorch's {@code DistributedSampler} deals it out: see {@link Shard#of}. Where the nodes of a run have
     * a shard of the dataset each, name the rank among all nodes all the same; it then visits its part of the rows that its node has.
     */
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
     * one that was stopped, so its last batch may be shorter all the same, with another batch size or number of ranks: {@link
     * #lastBatch} says what becomes of that, too.
     */
    public LoaderBuilder dropLast(boolean drop) {
        dropLast = drop;
        return this;
    }

    /**
     * Sets what becomes of the last batch of an epoch, whole or resumed, instead of {@link #dropLast}. With {@link LastBatch#DROP}
     * and {@link LastBatch#PAD} all batches have the same shape. {@code DROP} leaves out what a resumed epoch has no full batch for.
     * {@code PAD} loses nothing: samples from the start of the epoch's order fill the last batch up, {@link Batch#validSize} says
     * how many are not such; so with {@link Shard#exact}, or {@link #batches}, no rank has an empty batch either.
     */
    public LoaderBuilder lastBatch(LastBatch last) {
        lastBatch = last;
        return this;
    }

    /** Sets what becomes of samples that cannot be read or transformed; without it, they fail the epoch. */
    public LoaderBuilder onFailure(FailurePolicy policy) {
        onFailure = policy;
        return this;
    }

    /**
     * Resumes states of another decoder of images, too: of another version of its library, or of another library.
     * Without this they are refused, as batches could differ in the last bit of a pixel.
     */
    public LoaderBuilder anyDecoder() {
        anyDecoder = true;
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
     * holds stays the same, and {@link Batch#number} says which one it is. {@link Batch#stateAfter} lists what was consumed; with several
     * ranks it is that of one rank, and {@link LoaderState#merged} makes that of all. To gain by it, give the loader more {@link #threads}
     * and {@link #prefetch} than slow batches stand in its way at a time.
     */
    public LoaderBuilder inAnyOrder() {
        inOrder = false;
        return this;
    }

    /**
     * Gathers batches straight into the slots of {@link dev.larder.loader.fanout.BatchPublisher#slots}, so that publishing them copies
     * nothing; {@link #prefetch} does not count then, and the loader's epochs are only for publishing. Slots are of one size, for batches in their order: batches of ragged rows, of
     * {@link #batches} and {@link #inAnyOrder} are gathered into memory of the loader, and copied when they are published. Not with
     * {@link #device}.
     */
    public LoaderBuilder into(HostSlots shared) {
        if (!(shared instanceof SlotProvider provider)) {
            throw new IllegalArgumentException("not the slots of a BatchPublisher: " + shared);
        }
        slots = provider;
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

    // ---- where batches go

    /**
     * Brings batches to a device, ahead of the consumer; they are the same bytes there. With several devices, each gets its part of
     * every batch. Without this, and where the device stands for the host ({@link Device#host}) or falls back to it, batches stay in
     * memory of the host. This changes the builder for good: what it builds later has the device, too.
     */
    public LoaderBuilder device(Device... names) {
        if (names.length == 0) {
            throw new IllegalArgumentException("name a device, such as Device.auto()");
        }
        devices = List.of(names);
        return this;
    }

    /** Sets how rows get to the device; {@link DeviceMode#AUTO} by default. Only with {@link #device}. */
    public LoaderBuilder deviceMode(DeviceMode mode) {
        deviceMode = Objects.requireNonNull(mode);
        return this;
    }

    /**
     * Sets how many bytes of a device {@link DeviceMode#AUTO} may fill with whole arrays; half of its memory by default. Only with
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
     * Sets how many batches can be on their way to a device or there, those that are open included; 4 by default. Where batches stay
     * on the host after all, it counts as {@link #prefetch} if it is more. Only with {@link #device}.
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
     * Checks that the fields fit together, opens the devices, takes memory and starts the threads. With too little memory of a device
     * there are fewer slots. If there is not even one, arrays are streamed instead of resident, unless {@code RESIDENT} was asked for
     * and the device may not fall back to the host; then batches stay on the host, if they may; else it fails with {@code NO_SPACE}
     * and numbers.
     */
    public Loader build() {
        requireOneWayToMakeBatches();
        requireDeviceIfItCounts();
        if (slots != null && !devices.isEmpty()) {
            throw new IllegalStateException(
                    "batches on a device are not gathered into shared slots: leave device(…) or into(…) out");
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
                places(sampler, settings.seed(), sizes),
                order,
                settings.seed(),
                inOrder,
                pipeline.host().source().decoder(),
                anyDecoder,
                true);
        return new Loader(pipeline, ordered, beside, states, progress);
    }

    /** Returns the sampler that lays down orders of all datasets together. */
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

    /** Copies what {@link #open} needs: the builder may be changed and used again. */
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
                            + " leave them out");
        }
    }

    private void requireOneWayToMakeBatches() {
        if (batchSampler != null && mixture != null) {
            throw new IllegalStateException(
                    "a mixture chooses which samples follow each other: use batch(…) instead of batches(…)");
        }
        if (batchSampler == null && batchSize == 0) {
            throw new IllegalStateException("batch size is not set; call batch(…)");
        }
        if (collate == null && !outputs.isEmpty()) {
            throw new IllegalStateException(
                    "nothing fills what output(…) declares: call collate(…), too: outputs=" + outputs);
        }
        if (dropLast && lastBatch != null) {
            throw new IllegalStateException(
                    "dropLast(…) and lastBatch(…) both say what becomes of the last batch: leave one out");
        }
        if (batchSampler != null && (batchSize != 0 || last() == LastBatch.DROP)) {
            throw new IllegalStateException(
                    "the sampler given to batches(…) makes the batches: leave batch(…) and dropLast(…) out");
        }
        if (last() == LastBatch.DROP && shard.tail() == Shard.Tail.EXACT) {
            throw Failure.of(ErrorCode.USAGE, "exact shards visit every sample, dropLast leaves some out")
                    .remedy("leave one of them out");
        }
    }
}
