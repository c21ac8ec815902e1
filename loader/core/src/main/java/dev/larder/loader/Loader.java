package dev.larder.loader;

import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.LeakGuard;
import dev.larder.internal.error.Logs;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.sample.Sampler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Gathers batches from the arrays of a dataset into reused memory, ahead of the consumer.
 *
 * <pre>{@code
 * try (Loader loader = Loader.over(mnist).arrays("train-images", "train-labels").shuffle(42).batch(256).build()) {
 *     for (long e = 0; e < epochs; e++) {
 *         for (Batch batch : loader.epoch(e)) {
 *             step(batch.array("train-images").buffer(), batch.array("train-labels").buffer(), batch.size());
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p>Batches depend on the dataset, the sampler, the batch size and the epoch alone: threads, prefetching and chance do not change
 * a byte ({@link BatchChecksum} proves it). One epoch runs at a time. A loader is closed before its dataset.
 */
public final class Loader implements AutoCloseable {
    /** What a thread copies at a time: long enough to be worth a claim, short enough to share a batch. */
    private static final int TASK_BYTES = 64 << 10;

    /** How long closing waits for a thread that is held up in somebody's code. */
    private static final Duration HELD_UP_TIMEOUT = Duration.ofMillis(400);

    /** How long it waits for one that has work in hand: a busy machine may not let it run for a while. */
    private static final Duration BUSY_TIMEOUT = Duration.ofSeconds(2);

    /** How often it looks whether a thread is done with an order: planning a batch takes some microseconds. */
    private static final long LOOK_NANOS = 20_000;

    private final Source source;
    private final Epochs epochs;
    private final States states;
    private final LoaderSettings settings;
    private final List<Slot> slots;
    private final Ring ring;
    private final GatherThreads threads;
    private final LeakGuard leakGuard;
    private volatile boolean warnedOfNone;

    Loader(Source source, Epochs epochs, States states, LoaderSettings settings) {
        this.source = source;
        this.epochs = epochs;
        this.states = states;
        this.settings = settings;
        this.slots = allocate(source, settings);
        Gather gather = new Gather(source, settings.onFailure());
        Ring.Work work = new Ring.Work(
                taskRows(settings.samples(), source.sampleByteSize()),
                settings.threads() == 0 || !(source.runsUserCode() || epochs.runsUserCode()),
                settings.inOrder(),
                settings.delivery().keeps());
        try {
            this.ring = new Ring(
                    source, gather, states, slots, work, settings.delivery().timeout());
            this.threads = GatherThreads.start(source, gather, ring, settings.threads());
        } catch (Throwable e) {
            Slot.closeMemory(slots);
            throw e;
        }
        this.leakGuard = new LeakGuard(this, "loader", toString(), ring::close);
    }

    private static List<Slot> allocate(Source source, LoaderSettings settings) {
        List<Slot> slots = new ArrayList<>();
        try {
            for (int i = 0; i < settings.slots(); i++) {
                slots.add(new Slot(source.fields(), settings.samples(), settings.allocator()));
            }
        } catch (Throwable e) {
            Slot.closeMemory(slots);
            throw e;
        }
        return slots;
    }

    /** Begins to describe a loader over a dataset, which must stay open for as long as the loader. */
    public static LoaderBuilder over(Dataset dataset) {
        return new LoaderBuilder(dataset);
    }

    /** Divides a batch into equal tasks, so that all threads fill one batch. */
    private static int taskRows(int batchSize, long sampleBytes) {
        long tasks = Math.max(1, Math.min(batchSize, batchSize * sampleBytes / TASK_BYTES));
        return (int) ((batchSize + tasks - 1) / tasks);
    }

    States states() {
        return states;
    }

    /** Returns how many bytes its slots have now. */
    long slotBytes() {
        return slots.stream()
                .flatMap(slot -> Arrays.stream(slot.arrays))
                .mapToLong(array -> array.memory().capacity())
                .sum();
    }

    /** Returns how many samples the dataset has: rows of its arrays. */
    public long rows() {
        return source.rows();
    }

    /**
     * Begins an epoch: threads start to fill batches at once. The epoch before ends first, and its batches are closed, but for
     * those kept. Epochs may be visited in any order, and again.
     *
     * <p>The sampler lays down the whole order before the first batch is gathered; the order of the epoch before is given up by
     * then. {@link Sampler#permuted} lays down none.
     */
    public Epoch epoch(long number) {
        if (number < 0) {
            throw new IllegalArgumentException("epochs count from 0: epoch=" + number);
        }
        Epoch epoch = begin(number, () -> epochs.whole(source.rows(), number));
        if (epoch.batches() == 0 && !warnedOfNone) {
            warnedOfNone = true;
            Logs.of(Loader.class)
                    .warn(
                            "an epoch has no batches: loader={} epoch={} rows={}; choose a smaller batch(…), or leave dropLast out",
                            this,
                            number,
                            source.rows());
        }
        return epoch;
    }

    /**
     * Goes on where an earlier run stopped: with the samples of the epoch that had not been consumed. The ranks together see what
     * they would have seen, in the same order, if the batch size of all ranks together is the same or divides it. Nothing is
     * read again: it takes as long as to begin an epoch. Fails with {@code BAD_INPUT} for a state of other data, or of another
     * sampler or seed.
     */
    public Epoch resume(LoaderState state) {
        states.requireFits(state);
        return begin(state.epoch(), () -> epochs.rest(source.rows(), state.epoch(), state.consumed(), state.length()));
    }

    private Epoch begin(long number, Supplier<Plan> planner) {
        source.dataset().stored().requireSourcesUnchanged();
        ring.endRunning();
        awaitNothingPlanned();
        Plan plan;
        try {
            plan = planner.get();
        } catch (LarderException e) {
            throw e;
        } catch (RuntimeException e) {
            throw source.failure("sampler failed", Stage.ORDER, e)
                    .with("epoch", number)
                    .exception();
        }
        ring.start(plan);
        return new Epoch(this, ring, plan, settings.progress());
    }

    /** Waits for a thread that may have the order of the ended epoch in hand, but not for one that hangs in a user's sampler. */
    private void awaitNothingPlanned() {
        Deadline deadline = Deadline.after(HELD_UP_TIMEOUT);
        while (ring.isPlanningEnded() && !deadline.isOver()) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    /** Returns what was done and where the time went, since the loader was built. From any thread, at any time. */
    public LoaderStats stats() {
        return ring.stats(threads.stopwatches(), source.dataset().openingTime());
    }

    /**
     * Closes every batch and waits for the threads to end, which they do when they have copied what they have in hand. One that
     * is held up in a sampler or transform for longer than 0.4 s, or works for longer than 2 s, fails the call with
     * {@code DEADLINE}; it ends by itself later. Idempotent, from
     * any thread: a consumer that waits for a batch gets an {@link IllegalStateException}.
     */
    @Override
    public void close() {
        close(true);
    }

    /** Closes; the slots' memory stays as it is where a device may still read it. */
    void close(boolean freesMemory) {
        ring.close();
        leakGuard.disarm();
        String held = threads.join(HELD_UP_TIMEOUT, BUSY_TIMEOUT);
        if (!held.isEmpty()) {
            throw source.failure(ErrorCode.DEADLINE, "loader did not stop in time")
                    .with("threads", held)
                    .remedy("take a thread dump to see where the sampler or the transform waits");
        }
        if (freesMemory) {
            Slot.closeMemory(slots);
        }
    }

    @Override
    public String toString() {
        return "Loader{" + source.dataset().name() + " version "
                + source.dataset().version() + " "
                + source.arrays().stream().map(OutputArray::name).toList() + "}";
    }
}
