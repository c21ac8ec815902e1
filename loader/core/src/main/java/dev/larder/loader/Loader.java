package dev.larder.loader;

import dev.larder.client.Dataset;
import dev.larder.error.LarderException;
import dev.larder.internal.error.LeakGuard;
import dev.larder.internal.error.Logs;
import dev.larder.internal.layout.WorkPart;
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
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.PipelineStage;
import dev.larder.loader.sample.LastBatch;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Shard;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
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
 * try (Loader loader = Loader.over(mnist).arrays("train-images", "train-labels").shuffle(42).batchSize(256).build()) {
 *     for (long e = 0; e < epochs; e++) {
 *         for (Batch batch : loader.epoch(e)) {
 *             step(batch.array("train-images").buffer(), batch.array("train-labels").buffer(), batch.size());
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p>A run that stops saves {@link Batch#stateAfter}, and the next run continues its epoch, with a loader of the same dataset and order:
 *
 * <pre>{@code
 * LoaderState state = LoaderState.parse(saved);              // saved = batch.stateAfter().toJson()
 * for (Batch batch : loader.resume(state)) { … }             // the rest of its epoch, which may be empty
 * for (Epoch epoch : loader.epochs(state.epoch() + 1, epochs)) { … }
 * }</pre>
 *
 * <p>With {@link LoaderBuilder#device}, batches are uploaded to a device ahead of the consumer, with the same bytes.
 *
 * <p>Batches depend only on the dataset, the sampler, the batch size and the epoch: threads, prefetching, the device and chance do not
 * change a byte ({@link BatchChecksum} proves it). One epoch runs at a time, and another one {@link #beside} it. Close a loader before
 * its dataset.
 */
public final class Loader implements AutoCloseable {
    /** The end of a range of epochs, for an epoch that no other follows. */
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
        NextPlan next = new NextPlan(planner); // the leak guard must not refer to this
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

    /** Returns a builder for a loader over a dataset, which must stay open as long as the loader. */
    public static LoaderBuilder over(Dataset dataset) {
        return new LoaderBuilder(SourceData.of(dataset), null);
    }

    /** Returns a builder for a loader over several datasets, which must stay open as long as the loader: see {@link Sources}. */
    public static LoaderBuilder over(Source source) {
        return new LoaderBuilder(source.data(), source.mixture());
    }

    /** Returns the number of samples: the rows of the arrays. */
    public long rows() {
        return source().rows();
    }

    /** Returns the devices of batches; none if they are in host memory. */
    public List<DeviceInfo> devices() {
        return pipeline.devices();
    }

    /** Returns how rows reach the device: {@code STREAM} or {@code RESIDENT}; empty if batches are in host memory. */
    public Optional<DeviceMode> mode() {
        return pipeline.mode();
    }

    /** Returns the bytes that the loader holds on all devices, including resident arrays; slots of ragged rows may grow. */
    public long deviceBytes() {
        return pipeline.deviceBytes();
    }

    /** Returns the bytes of its slots on the host; slots of ragged rows may grow. */
    public long hostBytes() {
        return pipeline.host().hostBytes();
    }

    /** Returns the number of slots, for batches that are filled or uploaded ahead, or open. */
    public int slots() {
        return pipeline.slots();
    }

    /** Returns the bytes that were uploaded for batches so far. */
    public long uploadedBytes() {
        return pipeline.uploadedBytes();
    }

    /**
     * Begins an epoch: threads start to fill batches immediately. The last epoch ends first, and its batches are closed, except kept ones.
     * Epochs may be visited in any order, and repeatedly.
     *
     * <p>The sampler computes the whole order before the first batch is gathered; the order of the last epoch is dropped before. While an
     * epoch runs, another thread computes the order of the next one, {@code number + 1}, so that it begins without a wait; then there are
     * two orders. If another epoch begins, that order is dropped. An order that needs more than a quarter of the free heap, or that comes
     * from your own sampler, is computed at the start of its epoch, on the caller's thread. {@link Sampler#permuted} needs no memory for
     * an order: use it for very many rows.
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
                            "an epoch has no batches: loader={} epoch={} rows={}; choose a smaller batchSize(…), or keep the last batch",
                            this,
                            epoch.number(),
                            rows());
        }
        return epoch;
    }

    /**
     * Returns the epochs from {@code from} to before {@code to}. While the consumer has the last batches of an epoch, the first ones of the
     * next are filled and uploaded, so there is no wait between epochs. Each epoch begins when the loop reaches it, and ends the last one,
     * as with {@link #epoch}.
     *
     * <p>This needs the order of the next epoch before the end of this one: it is computed as {@link #epoch} describes, or at the start of
     * this one if that takes no time, or if the sampler is your own. If the heap has no room for two orders, the next epoch is filled only
     * from its start on.
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

    /** Continues with an epoch if its first batches are being filled; else returns null. */
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
     * Begins an epoch next to the running one, which continues: for evaluation during training. It visits the rows of the sampler, such as
     * {@code Sampler.sequential().over(validation)}, as epoch 0, every sample once: with several ranks as {@link Shard#exact}, and with
     * {@link LastBatch#PAD} all batches are full. Its batches have the loader's fields with all transforms, also random ones: to avoid
     * these, use another loader. Its batches have no state.
     *
     * <p>The first such epoch doubles the slots and threads of the loader; on a device, its rows are streamed. The next such epoch ends the
     * last one.
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
     * Continues an epoch of an earlier run with the samples that were not consumed; none are left if the epoch was complete. The next
     * epoch is {@code state.epoch() + 1}. All ranks together get the same samples in the same order as without the stop, if their
     * batch size together is the same or divides it. Takes as long as the start of an epoch, without reading consumed samples; up to
     * 134 million of them are compared with the state's receipt, which takes 4 ns each in a random order, and 20 ns in a permuted one.
     * Fails with {@code BAD_INPUT} for a state of other data, or of another sampler, seed or order.
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
        Plan plan = planner.rest(rows(), state.epoch(), rest, state.consumed(), state.length());
        states.continueReceipt(plan, state);
        return plan;
    }

    /** Returns the batch object of a delivery. */
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
        pipeline.stopwatch().beginEpoch();
        try {
            Plan plan = planned(number, planning);
            pipeline.start(plan);
            return begun(plan, end);
        } finally {
            pipeline.stopwatch().end();
        }
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

    /** Starts the computation of the next order. If {@code end} allows a next epoch, its batches are filled when slots become free. */
    private Epoch begun(Plan plan, long end) {
        if (end == ALONE) {
            nextPlan.begin(rows(), plan);
        } else if (plan.epoch() + 1 < end) {
            Pipeline follower = pipeline; // the thread that computes the order must not refer to this
            nextPlan.begin(rows(), plan, next -> follower.follow(plan, next));
        }
        return new Epoch(this, pipeline, states, plan, progress);
    }

    /**
     * Returns the work and the times since the loader was built. Callable from any thread. With a device, it covers the host, where the
     * consumer is the thread that uploads.
     */
    public LoaderStats stats() {
        Ring.Counts counts = pipeline.host().counts();
        return new LoaderStats(
                counts.batches(),
                counts.samples(),
                counts.bytes(),
                counts.skippedSamples(),
                counts.elapsed(),
                source().data().openingTime(),
                total(WorkPart.PLANNING),
                total(WorkPart.READING, WorkPart.GATHERING),
                total(WorkPart.USER_CODE, WorkPart.DECODING, WorkPart.TRANSFORMING),
                total(WorkPart.STARTING, WorkPart.WAITING_FOR_BATCH),
                total(WorkPart.WAITING_FOR_CONSUMER));
    }

    private Duration total(WorkPart... parts) {
        return Duration.ofNanos(Arrays.stream(parts)
                .mapToLong(pipeline.host().counters()::nanos)
                .sum());
    }

    /**
     * Closes every batch and waits for the threads, which end after their current rows. Your samplers, transforms and functions are not
     * called again, even if the current call ignores its interrupt. If that call does not end within 5 s, this one fails with
     * {@code DEADLINE}; the thread ends later. With a device, the call first waits for the work of the device and of the consumer on its
     * queue, at most 5 s, then frees all memory; if the device may still use memory, the memory stays allocated, and the call fails with
     * {@code DEADLINE}. Cancels the computation of the next order, in at most 0.4 s. A consumer that waits for a batch gets an
     * {@link IllegalStateException}. Idempotent; callable from any thread and from shutdown hooks.
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
