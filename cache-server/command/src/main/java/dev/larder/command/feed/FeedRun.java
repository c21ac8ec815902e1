package dev.larder.command.feed;

import dev.larder.command.output.FeedRow;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.loader.Epoch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderStats;
import dev.larder.loader.fanout.BatchPublisher;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the batches of some epochs. A second thread samples the ring, shows the progress, and ends the feed if the store is gone.
 */
public final class FeedRun {
    private static final Duration BEFORE_FIRST_BATCH = Duration.ofMillis(10);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(200);
    private static final int STANDARD_ERROR = 2;

    private final Path folder;
    private final Loader loader;
    private final int batchSize;
    private final BatchPublisher publisher;
    private final FeedStop stop;
    private final CountDownLatch over = new CountDownLatch(1);
    private final long begunNanos = System.nanoTime();
    private volatile long firstBatchNanos = begunNanos;
    private volatile @Nullable Epoch epoch;
    private long epochs;
    private long rows;
    private long batchesBefore;

    /** Creates a run. The caller owns the loader and the publisher. */
    public FeedRun(StoreLayout store, Loader loader, int batchSize, BatchPublisher publisher, FeedStop stop) {
        this.folder = store.ring(publisher.name());
        this.loader = loader;
        this.batchSize = batchSize;
        this.publisher = publisher;
        this.stop = stop;
    }

    /**
     * Publishes; shows the progress if {@code err} is not null. If it ends early, consumers get the same exception.
     *
     * @throws LarderException INTERRUPTED if it was stopped, NO_DAEMON if the store is gone, or another failure
     */
    public void publish(EpochRange range, @Nullable PrintWriter err) {
        Thread watch = new Thread(() -> watch(err), "larder-feed-watch");
        watch.setDaemon(true);
        try {
            watch.start();
            long end = range.last() == Long.MAX_VALUE ? Long.MAX_VALUE : range.last() + 1;
            for (Epoch next : loader.epochs(range.first(), end)) { // no epoch waits for the end of the one before
                publish(next);
            }
        } catch (RuntimeException | Error e) {
            LarderException why = stop.reason();
            if (why != null) {
                throw why;
            }
            publisher.abort(e instanceof LarderException failure ? failure : unexpected(e));
            throw e;
        } finally {
            over.countDown();
            awaitEnd(watch); // else its last line could follow the next message
        }
    }

    private static void awaitEnd(Thread watch) {
        try {
            watch.join(BETWEEN_LOOKS.toMillis());
        } catch (InterruptedException nobodyDoes) {
            Thread.currentThread().interrupt();
        }
    }

    private LarderException unexpected(Throwable e) {
        return Failure.of(ErrorCode.UNEXPECTED, "the feed ended unexpectedly")
                .with("feed", publisher.name())
                .with("reason", e)
                .cause(e)
                .exception();
    }

    private void publish(Epoch next) {
        if (next.batches() == 0) {
            throw Failure.of(ErrorCode.BAD_INPUT, "an epoch has no batches")
                    .with("rows", loader.rows())
                    .with("batchSize", batchSize)
                    .remedy("choose a smaller --batch-size, or omit --drop-last");
        }
        epoch = next;
        batchesBefore = publisher.published();
        publisher.publish(next);
        epochs++;
        rows = loader.stats().samples();
        epoch = null;
    }

    /** Returns the totals; call it after the end of publishing. */
    public FeedSummary summary() {
        long batches = publisher.published();
        Epoch broken = epoch;
        LoaderStats stats = loader.stats();
        long rowsOfBroken =
                broken == null ? 0 : Math.min(stats.samples() - rows, (batches - batchesBefore) * batchSize);
        Duration time = Duration.ofNanos(System.nanoTime() - firstBatchNanos);
        return new FeedSummary(epochs, batches, rows + rowsOfBroken, stats.skippedSamples(), time);
    }

    private void watch(@Nullable PrintWriter err) {
        try (FeedDisplay display =
                err == null ? null : new FeedDisplay(err, Posix.system().isTerminal(STANDARD_ERROR))) {
            while (!over.await(
                    (firstBatchNanos == begunNanos ? BEFORE_FIRST_BATCH : BETWEEN_LOOKS).toMillis(),
                    TimeUnit.MILLISECONDS)) {
                look(display);
            }
        } catch (InterruptedException nobodyDoes) {
            Thread.currentThread().interrupt();
        }
    }

    private void look(@Nullable FeedDisplay display) {
        Optional<FeedRow> now = FeedRow.look(folder, List.of());
        long self = ProcessHandle.current().pid();
        boolean isGone = now.map(row -> row.pid() != self).orElseGet(() -> Files.notExists(folder));
        if (isGone) {
            stop.ask(Failure.of(ErrorCode.NO_DAEMON, "the store of the feed is gone")
                    .with("feed", publisher.name())
                    .with("folder", folder)
                    .remedy(Remedy.START_DAEMON + ", and then the feed"));
        } else if (now.isPresent() && now.get().batches() > 0) {
            if (firstBatchNanos == begunNanos) {
                firstBatchNanos = System.nanoTime();
            }
            Epoch shown = epoch;
            if (display != null && shown != null) {
                display.show(now.get(), shown.batches());
            }
        }
    }
}
