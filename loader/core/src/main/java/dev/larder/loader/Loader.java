package dev.larder.loader;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.sample.SampleOrder;
import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gathers batches from the arrays of a dataset, ahead of a consumer, into memory that is used again and again.
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
 * <p>Batches depend on the dataset, the sampler, the batch size and the epoch alone: threads, depth and chance do not change
 * a byte ({@link BatchChecksum} proves it). One epoch runs at a time. A loader is closed before its dataset.
 */
public final class Loader implements AutoCloseable {
    /** What a thread copies at a time: long enough to be worth a claim, short enough to share a batch. */
    private static final int TASK_BYTES = 64 << 10;

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);
    private static final Logger LOG = LoggerFactory.getLogger(Loader.class);
    private static final Cleaner CLEANER = Cleaner.create();

    private final Source source;
    private final LoaderBuilder.Settings settings;
    private final Ring ring;
    private final GatherThreads threads;
    private final Cleaner.Cleanable leakGuard;

    Loader(Source source, LoaderBuilder.Settings settings, long sampleBytes) {
        this.source = source;
        this.settings = settings;
        List<Slot> slots = Stream.generate(() -> new Slot(source.arrays(), settings.batchSize()))
                .limit(settings.depth())
                .toList();
        Gather gather = new Gather(source);
        int taskRows = taskRows(settings.batchSize(), sampleBytes);
        this.ring = new Ring(source, gather, slots, taskRows, settings.timeout());
        this.threads = GatherThreads.start(gather, ring, settings.threads());
        this.leakGuard = CLEANER.register(this, new LeakGuard(ring, toString(), new Throwable("built here")));
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

    /** Returns how many rows the arrays have. */
    public long rows() {
        return source.rows();
    }

    /**
     * Begins an epoch: threads start to fill batches at once. The epoch before ends, and its batches are closed, but for those
     * kept. Epochs may be visited in any order, and again.
     */
    public Epoch epoch(long number) {
        source.dataset().requireSourcesUnchanged();
        Plan plan = new Plan(number, order(number), settings.batchSize(), settings.dropLast());
        ring.start(plan);
        return new Epoch(this, ring, plan);
    }

    private SampleOrder order(long epoch) {
        try {
            return settings.sampler().order(source.rows(), epoch);
        } catch (LarderException e) {
            throw e;
        } catch (RuntimeException e) {
            throw source.failure("sampler failed", Stage.ORDER, e)
                    .with("epoch", epoch)
                    .exception();
        }
    }

    /**
     * Closes every batch and waits for the threads to end, which they do when they have copied what they have in hand. One that
     * is held up in a sampler for longer than 2 s fails the call with {@code DEADLINE}; it ends by itself later. Idempotent, from
     * any thread: a consumer that waits for a batch gets an {@link IllegalStateException}.
     */
    @Override
    public void close() {
        ring.close();
        leakGuard.clean();
        String held = threads.join(CLOSE_TIMEOUT);
        if (!held.isEmpty()) {
            throw source.failure(ErrorCode.DEADLINE, "loader did not end in time")
                    .with("threads", held)
                    .remedy("see in a thread dump where the sampler waits");
        }
    }

    @Override
    public String toString() {
        return "Loader{" + source.dataset().name() + " version "
                + source.dataset().version() + " "
                + source.arrays().stream().map(ArrayView::name).toList() + " batch " + settings.batchSize() + "}";
    }

    private record LeakGuard(Ring ring, String loader, Throwable builtAt) implements Runnable {
        @Override
        public void run() {
            if (!ring.isClosed()) {
                LOG.warn("loader was never closed: loader={}; close it, best with try-with-resources", loader, builtAt);
                ring.close();
            }
        }
    }
}
