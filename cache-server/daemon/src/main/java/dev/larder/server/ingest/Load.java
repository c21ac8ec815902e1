package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.protocol.Done;
import dev.larder.protocol.LoadRequest;
import dev.larder.protocol.Progress.Phase;
import dev.larder.protocol.ProgressListener;
import dev.larder.server.residency.Residency;
import dev.larder.server.source.Source;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.SourceRecord;
import dev.larder.server.store.Store;
import java.io.IOException;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One load: scans every source, reserves space for all of it, copies with several threads and publishes. All datasets of a
 * request become visible, or none; whatever was written before a failure is removed.
 */
public final class Load {
    private static final Logger LOG = LoggerFactory.getLogger(Load.class);
    private static final int COPY_END_SECONDS = 5;

    private final LoadRequest request;
    private final int workers;
    private final Store store;
    private final Residency residency;
    private final LoadProgress progress;
    private final CompletableFuture<Done> outcome = new CompletableFuture<>();
    private final List<IncomingVersion> incoming = new ArrayList<>();
    private volatile List<SourceArray> arrays = List.of();
    private volatile boolean cancelled;

    Load(LoadRequest request, int workers, Store store, Residency residency) {
        this.request = request;
        this.workers = workers;
        this.store = store;
        this.residency = residency;
        this.progress = new LoadProgress(String.join(",", datasets()));
    }

    /** Returns the datasets that this will publish a version of. */
    public Set<String> datasets() {
        return request.sources().stream().map(LoadRequest.Source::name).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the arrays that are on their way; empty until the sources have been scanned. */
    public List<SourceArray> arrays() {
        return arrays;
    }

    /** Returns what completes when all is published, or with the failure. */
    public CompletableFuture<Done> outcome() {
        return outcome;
    }

    /** Has an action run once when this has ended; one of its two arguments is null. */
    public void whenEnded(BiConsumer<? super @Nullable Done, ? super @Nullable Throwable> action) {
        var unused = outcome.whenComplete(action);
    }

    /** Tells a listener how far this is, now and from now on, until the action that is returned has run. */
    public Runnable listen(ProgressListener listener) {
        return progress.listen(listener);
    }

    /** Ends the load as soon as it can; what it wrote is removed. */
    public void cancel() {
        cancelled = true;
        synchronized (incoming) {
            incoming.forEach(IncomingVersion::cancel);
        }
    }

    /**
     * Does the work, on the calling thread and on workers, and completes {@link #outcome}; throws nothing.
     *
     * @param beforeOutcome runs when the work is over and nobody has been told yet
     */
    void run(Runnable beforeOutcome) {
        try {
            Done done = loadAll();
            beforeOutcome.run();
            outcome.complete(done);
        } catch (IOException | RuntimeException | Error e) {
            beforeOutcome.run();
            outcome.completeExceptionally(explained(e));
        }
    }

    private LarderException explained(Throwable failure) {
        if (failure instanceof LarderException known && !cancelled) {
            return known;
        }
        if (cancelled || failure instanceof CancellationException) {
            return Failure.of(ErrorCode.INTERRUPTED, "load was cancelled")
                    .with("datasets", datasets())
                    .cause(failure)
                    .exception();
        }
        return Failure.of(ErrorCode.UNEXPECTED, "load failed")
                .with("datasets", datasets())
                .with("reason", failure)
                .cause(failure)
                .remedy("run it again with --debug");
    }

    private Done loadAll() throws IOException {
        progress.enter(Phase.SCANNING);
        SourceOptions options = new SourceOptions(request.keys());
        List<SourceArray> found = new ArrayList<>();
        long skipped = 0;
        for (LoadRequest.Source source : request.sources()) {
            Source scanned = Source.scan(source.name(), Path.of(source.path()), options);
            found.addAll(scanned.arrays());
            skipped += scanned.skippedFiles();
        }
        requireDistinctNames(found);
        arrays = List.copyOf(found);
        long bytes =
                found.stream().mapToLong(array -> array.header().byteSize()).sum();
        long stored = found.stream()
                .mapToLong(array -> Store.storedBytes(array.header().byteSize()))
                .sum();
        store.reserveSpace(stored, residency.usedBytes(), residency.leasedBytes());
        progress.expect(bytes, found.size());
        progress.enter(Phase.LOADING);
        Map<String, IncomingVersion> versions = new LinkedHashMap<>();
        try {
            for (String dataset : datasets()) {
                versions.put(dataset, open(dataset));
            }
            copyAll(versions);
            publishAll(versions);
        } finally {
            try {
                versions.values().forEach(IncomingVersion::close);
            } finally {
                store.releaseSpace(stored);
            }
        }
        return Done.of(found.size(), bytes, skipped == 0 ? "" : "skipped " + skipped + " files of no known kind");
    }

    private static void requireDistinctNames(List<SourceArray> arrays) {
        Set<String> names = new HashSet<>();
        for (SourceArray array : arrays) {
            if (!names.add(array.name().toString())) {
                throw Failure.of(ErrorCode.BAD_INPUT, "two sources of one name")
                        .with("array", array.name())
                        .with("file", array.identity().file())
                        .remedy("load them under different names");
            }
        }
    }

    private List<String> origins(String dataset) {
        return request.sources().stream()
                .filter(source -> source.name().equals(dataset))
                .map(LoadRequest.Source::path)
                .toList();
    }

    private IncomingVersion open(String dataset) {
        IncomingVersion version = store.newIncoming(dataset, origins(dataset));
        synchronized (incoming) {
            incoming.add(version);
            if (cancelled) {
                version.cancel();
            }
        }
        return version;
    }

    private void copyAll(Map<String, IncomingVersion> versions) {
        ExecutorService pool = Executors.newFixedThreadPool(Math.min(workers, Math.max(1, arrays.size())), task -> {
            Thread thread = new Thread(task, "larder-ingest");
            thread.setDaemon(true);
            return thread;
        });
        try {
            List<Future<?>> copies = arrays.stream()
                    .sorted(Comparator.comparingLong(
                                    (SourceArray array) -> array.header().byteSize())
                            .reversed())
                    .<Future<?>>map(array -> pool.submit(() -> copy(array, versions)))
                    .toList();
            for (Future<?> copy : copies) {
                await(copy);
            }
        } finally {
            versions.values().forEach(IncomingVersion::cancel);
            end(pool);
        }
    }

    /** Waits until no thread writes any more, so that what is removed next stays removed. */
    private static void end(ExecutorService pool) {
        pool.shutdownNow();
        try {
            if (!pool.awaitTermination(COPY_END_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("a copy does not end; its source hangs: waitedSeconds={}", COPY_END_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void copy(SourceArray array, Map<String, IncomingVersion> versions) {
        IncomingVersion version = versions.get(array.name().dataset());
        if (version == null) {
            throw new IllegalStateException("no version was started for " + array.name());
        }
        SourceRecord source = new SourceRecord(
                array.name().array(),
                array.identity().file().toString(),
                array.identity().byteSize(),
                array.identity().modifiedNanos(),
                array.identity().inode());
        try (ReadableByteChannel data = array.open()) {
            version.add(array.name().array(), array.header(), data, source, progress::addBytes);
            array.identity().requireUnchanged();
            progress.addFile();
        } catch (IOException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot copy array")
                    .with("array", array.name())
                    .with("file", array.identity().file())
                    .with("reason", e)
                    .cause(e)
                    .remedy("check the file and its disk");
        }
    }

    /** Waits for one copy; the first that fails ends the load. The load's own end is bounded by cancelling the copies. */
    private static void await(Future<?> copy) {
        try {
            copy.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted while copying");
        }
    }

    private void publishAll(Map<String, IncomingVersion> versions) {
        if (cancelled) {
            throw new CancellationException("cancelled before publishing");
        }
        progress.enter(Phase.PUBLISHING);
        for (IncomingVersion version : versions.values()) {
            residency.publish(version);
        }
    }
}
