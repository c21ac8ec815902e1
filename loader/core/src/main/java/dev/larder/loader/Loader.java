package dev.larder.loader;

import dev.larder.client.Dataset;
import dev.larder.error.LarderException;
import dev.larder.internal.error.LeakGuard;
import dev.larder.internal.error.Logs;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.field.SourceData;
import dev.larder.loader.internal.plan.EpochPlanner;
import dev.larder.loader.internal.plan.NextPlan;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.plan.Rest;
import dev.larder.loader.internal.ring.DeliveredBatch;
import dev.larder.loader.internal.ring.Pipeline;
import dev.larder.loader.internal.ring.Ring;
import dev.larder.loader.internal.ring.Stopwatch;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.PipelineStage;
import dev.larder.loader.sample.LastBatch;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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
 * <p>With {@link LoaderBuilder#device} batches are brought to a device, ahead of the consumer as well; they are the same bytes there.
 *
 * <p>Batches depend on the dataset, the sampler, the batch size and the epoch alone: threads, prefetching, the device and chance do
 * not change a byte ({@link BatchChecksum} proves it). One epoch runs at a time, and another one {@link #beside} it. A loader is closed
 * before its dataset.
 */
public final class Loader implements AutoCloseable {
    /** Where epochs in a row end, of one that nothing follows. */
    private static final long ALONE = -1;

    private final Pipeline pipeline;
    private final EpochPlanner planner;
    private final NextPlan nextPlan;
    private final Beside beside;
    private final StateContext states;
    private final List<OutputArray> outputs;
    private final int parts;
    private final @Nullable PrintStream progress;
    private final LeakGuard leakGuard;
    private volatile boolean warnedOfNone;

    Loader(
            Pipeline pipeline,
            EpochPlanner planner,
            Beside beside,
            StateContext states,
            @Nullable PrintStream progress) {
        this.pipeline = pipeline;
        this.planner = planner;
        this.beside = beside;
        NextPlan next = new NextPlan(planner); // the leak guard may not refer to this
        this.nextPlan = next;
        this.states = states;
        this.outputs = pipeline.outputs();
        this.parts = Math.max(1, pipeline.devices().size());
        this.progress = progress;
        this.leakGuard = new LeakGuard(this, "loader", toString(), () -> {
            pipeline.abandon();
            beside.abandon();
            next.close();
        });
    }

    /** Begins to describe a loader over a dataset, which must stay open for as long as the loader. */
    public static LoaderBuilder over(Dataset dataset) {
        return new LoaderBuilder(SourceData.of(dataset), null);
    }

    /** Begins to describe a loader over several datasets, which must stay open for as long as the loader: see {@link Sources}. */
    public static LoaderBuilder over(Source source) {
        return new LoaderBuilder(source.data(), source.mixture());
    }

    /** Returns how many samples the dataset has: rows of its arrays. */
    public long rows() {
        return source().rows();
    }

    /** Returns the devices that batches are brought to; none where they stay in memory of the host. */
    public List<DeviceInfo> devices() {
        return pipeline.devices();
    }

    /** Returns how rows get there: {@code STREAM} or {@code RESIDENT}; nothing where they stay in memory of the host. */
    public Optional<DeviceMode> mode() {
        return pipeline.mode();
    }

    /** Returns how many bytes of all devices together the loader holds, resident arrays included; slots of ragged rows may grow. */
    public long deviceBytes() {
        return pipeline.deviceBytes();
    }

    /** Returns how many bytes of the host its slots have; those of ragged rows may grow. */
    public long hostBytes() {
        return pipeline.host().hostBytes();
    }

    /** Returns how many batches can be filled ahead or open at a time; with a device, on their way to it or there. */
    public int slots() {
        return pipeline.slots();
    }

    /** Returns how many bytes were uploaded for batches so far. */
    public long uploadedBytes() {
        return pipeline.uploadedBytes();
    }

    /**
     * Begins an epoch: threads start to fill batches at once. The epoch before ends first, and its batches are closed, but for
     * those kept. Epochs may be visited in any order, and again.
     *
     * <p>The sampler lays down the whole order before the first batch is gathered; the order of the epoch before is given up by
     * then. While an epoch runs, another thread lays down the order of the one after it, {@code number + 1}, which so
     * begins at once; any other epoch gives it up. Then there are two orders. It is left to the beginning of the epoch, as is the first,
     * where laying it down takes more than a quarter of the heap that is free, and with samplers of your own, which are called in
     * the caller's thread only. {@link Sampler#permuted} lays down none: take it where rows are very many.
     */
    public Epoch epoch(long number) {
        if (number < 0) {
            throw new IllegalArgumentException("epochs count from 0: epoch=" + number);
        }
        return warnedOfNone(begin(number, () -> whole(number), ALONE));
    }

    private Epoch warnedOfNone(Epoch epoch) {
        if (epoch.batches() == 0 && !warnedOfNone) {
            warnedOfNone = true;
            Logs.of(Loader.class)
                    .warn(
                            "an epoch has no batches: loader={} epoch={} rows={}; choose a smaller batch(…), or leave dropLast out",
                            this,
                            epoch.number(),
                            rows());
        }
        return epoch;
    }

    /**
     * Returns the epochs from one to before another. While the last batches of an epoch are in the consumer's hands, the first of the
     * next one are filled and uploaded already: none waits at the border. Each epoch begins when the loop asks for it, and ends the one
     * before, as with {@link #epoch}.
     *
     * <p>For that the order of the next epoch has to be there before this one ends: it is laid down as {@link #epoch} says, or at the
     * beginning of this one where that takes no time, and with samplers of your own. Where the heap has no room for two
     * orders, the next epoch is filled from its beginning on.
     */
    public Iterable<Epoch> epochs(long from, long to) {
        if (from < 0 || to < from) {
            throw new IllegalArgumentException("epochs count from 0 upwards: from=" + from + " to=" + to);
        }
        return () -> new Iterator<>() {
            private long next = from;

            @Override
            public boolean hasNext() {
                return next < to;
            }

            @Override
            public Epoch next() {
                if (!hasNext()) {
                    throw new NoSuchElementException("there are no more epochs: to=" + to);
                }
                long number = next++;
                Epoch following = next - 1 > from ? advance(number, to) : null;
                return following == null ? warnedOfNone(begin(number, () -> whole(number), to)) : following;
            }
        };
    }

    /** Goes on with an epoch whose first batches are being filled; nothing if they are not. */
    private @Nullable Epoch advance(long number, long end) {
        source().data().requireSourcesUnchanged();
        Plan plan = nextPlan.take(number);
        if (plan == null) {
            return null;
        }
        if (!pipeline.advance(plan)) {
            pipeline.endRunning();
            pipeline.start(plan);
        }
        return begun(plan, end);
    }

    /**
     * Begins an epoch beside the one that runs, which goes on where it is: to evaluate in the midst of training. It visits what the sampler
     * chooses, such as {@code Sampler.sequential().over(validation)}, as its epoch 0 and every sample once: with several ranks as
     * {@link Shard#exact}, and with {@link LastBatch#PAD} all batches are full. Its batches have the loader's fields, transforms
     * included, random ones too: where these are not wanted, evaluate with a loader of its own. They have no state.
     *
     * <p>From the first such epoch on the loader has as many slots and threads again; on a device, rows are streamed for it. Another
     * one ends the one before.
     */
    public Epoch beside(Sampler sampler) {
        source().data().requireSourcesUnchanged();
        Pipeline opened = beside.open();
        opened.endRunning();
        Plan plan = planned(0, () -> beside.planner(sampler).whole(rows(), 0));
        opened.start(plan);
        return new Epoch(this, opened, states.beside(), plan, progress);
    }

    /**
     * Goes on where an earlier run stopped: with the samples of the epoch that had not been consumed. The ranks together see what
     * they would have seen, in the same order, if the batch size of all ranks together is the same or divides it. Nothing is
     * read again: it takes as long as to begin an epoch. Fails with {@code BAD_INPUT} for a state of other data, or of another
     * sampler or seed.
     */
    public Epoch resume(LoaderState state) {
        states.requireFits(state);
        Rest rest = states.rest(state);
        return begin(state.epoch(), () -> rest(state, rest), ALONE);
    }

    private Plan whole(long number) {
        Plan made = nextPlan.take(number);
        return made == null ? planner.whole(rows(), number) : made;
    }

    private Plan rest(LoaderState state, @Nullable Rest rest) {
        nextPlan.giveUp();
        return planner.rest(rows(), state.epoch(), rest, state.consumed(), state.length());
    }

    /** Returns the batch that stands for a delivery, whatever that is filled with. */
    Batch show(DeliveredBatch delivery, StateContext context) {
        if (delivery.batch == null) {
            delivery.batch = new Batch(delivery, context, outputs, parts);
        }
        return (Batch) delivery.batch;
    }

    private LoaderSource source() {
        return pipeline.host().source();
    }

    private Epoch begin(long number, Supplier<Plan> planning, long end) {
        source().data().requireSourcesUnchanged();
        pipeline.endRunning();
        Plan plan = planned(number, planning);
        pipeline.start(plan);
        return begun(plan, end);
    }

    private Plan planned(long number, Supplier<Plan> planning) {
        try {
            return planning.get();
        } catch (LarderException e) {
            throw e;
        } catch (RuntimeException e) {
            throw source().failure("sampler failed", PipelineStage.ORDER, e)
                    .with("epoch", number)
                    .exception();
        }
    }

    /** Lays down the order of the next epoch; where its batches are wanted as well, they are filled as soon as this one leaves slots. */
    private Epoch begun(Plan plan, long end) {
        if (end == ALONE) {
            nextPlan.begin(rows(), plan);
        } else if (plan.epoch() + 1 < end) {
            Pipeline follower = pipeline; // what lays down the order may not refer to this
            nextPlan.begin(rows(), plan, next -> follower.follow(plan, next));
        }
        return new Epoch(this, pipeline, states, plan, progress);
    }

    /**
     * Returns what was done and where the time went, since the loader was built. From any thread, at any time. With a device it is what
     * the host did, whose consumer is the thread that uploads.
     */
    public LoaderStats stats() {
        Ring.Counts counts = pipeline.host().counts();
        List<Stopwatch> stopwatches = pipeline.host().stopwatches();
        return new LoaderStats(
                counts.batches(),
                counts.samples(),
                counts.bytes(),
                counts.skippedSamples(),
                counts.elapsed(),
                source().data().openingTime(),
                total(stopwatches, Stopwatch.Part.PLANNING),
                total(stopwatches, Stopwatch.Part.GATHERING),
                total(stopwatches, Stopwatch.Part.TRANSFORMING),
                total(stopwatches, Stopwatch.Part.WAITING_FOR_BATCH),
                total(stopwatches, Stopwatch.Part.WAITING_FOR_CONSUMER));
    }

    private static Duration total(List<Stopwatch> stopwatches, Stopwatch.Part part) {
        return Duration.ofNanos(stopwatches.stream()
                .mapToLong(stopwatch -> stopwatch.nanos(part))
                .sum());
    }

    /**
     * Closes every batch and waits for the threads to end, which they do after the rows in hand. Samplers, transforms and other
     * code of yours are not called again, even if the call in hand ignores its interrupt. A thread that
     * is held up in a sampler or transform for longer than 0.4 s, or works for longer than 2 s, fails the call with
     * {@code DEADLINE}; it ends by itself later. With a device it first waits for the device's work and for the consumer's on
     * its queue, for at most 5 s, then gives everything back; what a device may still use after that is left as it is, and the
     * call fails with {@code DEADLINE}. Idempotent, from any thread, a shutdown hook included: a consumer that waits for a batch
     * gets an {@link IllegalStateException}. The order of the next epoch is given up, after 0.4 s at most.
     */
    @Override
    public void close() {
        leakGuard.disarm();
        nextPlan.close();
        try {
            beside.close();
        } finally {
            pipeline.close();
        }
    }

    @Override
    public String toString() {
        SourceData data = source().data();
        String where = mode().map(mode -> " " + mode + " on " + devices()).orElse("");
        return "Loader{" + data.name() + " version " + data.version() + " "
                + outputs.stream().map(OutputArray::name).toList() + where + "}";
    }
}
