package dev.larder.loader.internal.ring;

import dev.larder.error.ErrorCode;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.internal.device.HostAllocator;
import dev.larder.loader.internal.device.SlotProvider;
import dev.larder.loader.internal.field.FieldReader;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** Gathers batches into host memory. Owns the slots, the ring and its threads. */
public final class HostPipeline implements Pipeline {
    /** The bytes of a task: large enough to be worth a claim, small enough that threads share a batch. */
    private static final int TASK_BYTES = 64 << 10;

    /** The longest wait for the threads when this closes: a busy machine may not run one for a second, not even to let it end. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    /** The longest wait for a thread that is blocked in a user's sampler, when an epoch ends. */
    private static final Duration SAMPLER_TIMEOUT = Duration.ofMillis(400);

    /** The interval to check whether a thread uses an order: planning a batch takes some microseconds. */
    private static final long LOOK_NANOS = 20_000;

    private final LoaderSource source;
    private final List<RingSlot> slots;
    private final LoaderCounters counters;
    private final Ring ring;
    private final GatherThreads threads;

    /** Null if all rows are in memory. */
    private final @Nullable ReadAhead ahead;

    /**
     * How the consumer takes batches.
     *
     * @param slots the allocators, one for each slot
     * @param firstSlot returns the slot of the first batch of an epoch if batches use slots in turn; null if any slot will do
     * @param timeout the time limit to wait for a batch
     * @param keeps whether batches stay open until they are closed, even after their epoch
     */
    public record Consumption(
            List<HostAllocator> slots, @Nullable IntSupplier firstSlot, Duration timeout, boolean keeps) {}

    /** Checks that batches are not too long, allocates the slots and starts the threads. */
    public HostPipeline(LoaderSource source, PipelineSettings settings, Consumption consumption) {
        int samples = settings.samples(source);
        int count = settings.threads(source);
        requireBatchesFit(source, samples);
        this.source = source;
        this.slots = allocate(source, samples, consumption.slots());
        Gather gather = new Gather(source, settings.retries(), settings.maxSkipped());
        RingWork work = new RingWork(
                taskRows(samples, source.sampleByteSize()),
                count > 0,
                count == 0 || !(source.runsUserCode() || settings.runsUserSampler()),
                settings.inOrder(),
                consumption.keeps(),
                consumption.firstSlot());
        this.counters = LoaderCounters.open(source, settings, count, slots.size());
        try {
            this.ring = new Ring(source, gather, slots, work, consumption.timeout(), counters);
            this.threads = GatherThreads.start(source, gather, ring, counters, count);
            this.ahead = gather.readAhead();
        } catch (Throwable e) {
            counters.close();
            RingSlot.closeMemory(slots);
            throw e;
        }
    }

    /** Creates a pipeline for batches on the host, with {@code slots} slots unless the settings name others. */
    public static HostPipeline open(PipelineSettings settings, int slots) {
        LoaderSource source = settings.source(null);
        SlotProvider shared = settings.slots();
        Consumption consumption = shared != null && fitsInto(settings, source)
                ? new Consumption(open(shared, source, settings.batchSize()), shared::first, settings.timeout(), true)
                : new Consumption(
                        Collections.nCopies(slots, settings.allocator().get()), null, settings.timeout(), false);
        return new HostPipeline(source, settings, consumption);
    }

    /** Returns whether batches can be gathered into slots of one size, in turn. */
    private static boolean fitsInto(PipelineSettings settings, LoaderSource source) {
        return settings.batchSize() > 0
                && settings.inOrder()
                && source.fields().stream().allMatch(FieldReader::hasEqualRows);
    }

    private static List<HostAllocator> open(SlotProvider shared, LoaderSource source, int samples) {
        requireBatchesFit(source, samples);
        return shared.open(source.arrays().stream()
                .map(array -> new SlotProvider.Part(array.name(), array.dtype(), array.rowByteSize() * samples))
                .toList());
    }

    private static void requireBatchesFit(LoaderSource source, int samples) {
        for (OutputArray array : source.arrays()) {
            long bytes = Math.multiplyExact(array.rowByteSize(), samples);
            if (bytes > SlotArray.MAX_BYTES) {
                throw source.failure(ErrorCode.BAD_INPUT, "batch of one array is too long")
                        .with("array", array.name())
                        .with("bytes", bytes)
                        .with("max", SlotArray.MAX_BYTES)
                        .remedy("choose a smaller batchSize(…)");
            }
        }
    }

    private static List<RingSlot> allocate(LoaderSource source, int samples, List<HostAllocator> allocators) {
        List<RingSlot> slots = new ArrayList<>();
        try {
            for (HostAllocator allocator : allocators) {
                slots.add(new RingSlot(source, samples, allocator));
            }
        } catch (Throwable e) {
            RingSlot.closeMemory(slots);
            throw e;
        }
        return slots;
    }

    /** Divides a batch into equal tasks, so that all threads fill one batch. */
    private static int taskRows(int batchSize, long sampleBytes) {
        long tasks = Math.max(1, Math.min(batchSize, batchSize * sampleBytes / TASK_BYTES));
        return (int) ((batchSize + tasks - 1) / tasks);
    }

    @Override
    public HostPipeline host() {
        return this;
    }

    /** Returns the source of the rows. */
    public LoaderSource source() {
        return source;
    }

    @Override
    public List<OutputArray> outputs() {
        return source.arrays();
    }

    @Override
    public void endRunning() {
        ring.endRunning();
        awaitNothingPlanned();
    }

    /** Waits for a thread that may use the order of the ended epoch, but not for one that hangs in a user's sampler. */
    private void awaitNothingPlanned() {
        Deadline deadline = Deadline.after(SAMPLER_TIMEOUT);
        while ((ring.isPlanningEnded() || (ahead != null && ahead.isLookingUp())) && !deadline.isOver()) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    @Override
    public void start(Plan plan) {
        ring.start(plan);
        wakeReadAhead();
    }

    @Override
    public void follow(Plan running, Plan next) {
        ring.follow(running, next);
        wakeReadAhead();
    }

    private void wakeReadAhead() {
        if (ahead != null) {
            ahead.wake();
        }
    }

    @Override
    public boolean advance(Plan next) {
        return ring.advance(next);
    }

    @Override
    public DeliveredBatch take(Plan plan, @Nullable DeliveredBatch before) {
        return ring.take(plan, before);
    }

    @Override
    public void end(Plan plan) {
        ring.end(plan);
    }

    /** Returns the bytes of its slots. */
    public long hostBytes() {
        return slots.stream()
                .flatMap(slot -> Arrays.stream(slot.arrays))
                .mapToLong(array -> array.memory().capacity())
                .sum();
    }

    @Override
    public int slots() {
        return slots.size();
    }

    /** Returns the counts of deliveries. */
    public Ring.Counts counts() {
        return ring.counts();
    }

    /** Returns the times of all threads. */
    public LoaderCounters counters() {
        return counters;
    }

    @Override
    public Stopwatch stopwatch() {
        return ring.stopwatch();
    }

    /** Ends the threads after their current tasks; the garbage collector frees the memory. */
    @Override
    public void abandon() {
        ring.close();
        counters.close();
        if (ahead != null) {
            ahead.end();
        }
    }

    @Override
    public void close() {
        close(true);
    }

    /** Closes; does not free the memory of slots if a device may still read it. */
    public void close(boolean freesMemory) {
        abandon();
        String held = threads.join(CLOSE_TIMEOUT);
        if (!held.isEmpty()) {
            throw source.failure(ErrorCode.DEADLINE, "loader did not stop in time")
                    .with("threads", held)
                    .remedy("take a thread dump to see where the sampler or the transform waits");
        }
        source.closeFiles();
        if (freesMemory) {
            RingSlot.closeMemory(slots);
        }
    }
}
