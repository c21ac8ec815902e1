package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.layout.ArrayName;
import dev.larder.layout.Names;
import dev.larder.layout.StoreLayout;
import dev.larder.protocol.Done;
import dev.larder.protocol.ErrorRow;
import dev.larder.protocol.LoadRequest;
import dev.larder.protocol.ProgressListener;
import dev.larder.protocol.ReleaseVersion;
import dev.larder.server.catalog.Catalog;
import dev.larder.server.control.ControlServer;
import dev.larder.server.control.ControlSettings;
import dev.larder.server.http.Exposition;
import dev.larder.server.http.MetricsEndpoint;
import dev.larder.server.ingest.Ingest;
import dev.larder.server.ingest.Load;
import dev.larder.server.ingest.Loads;
import dev.larder.server.ingest.Upload;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import dev.larder.server.metrics.VersionUse;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.CleanUp;
import dev.larder.server.store.PublishedVersion;
import dev.larder.server.store.Store;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running daemon: owns a store, loads datasets into it, answers clients, and cleans up.
 *
 * <p>{@link #start} returns when clients can connect. {@link #stop} may be called at any moment from any thread, a signal's
 * included. Thread-safe.
 */
public final class Daemon implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Daemon.class);
    private static final int WORK_THREADS = 2;
    private static final long LOADS_END_MS = 1_000;
    private static final long STOP_TIMEOUT_SECONDS = 60;
    private static final long RETIRED_SWEEP_MS = 500;

    private final Store store;
    private final Catalog catalog;
    private final Residency residency;
    private final Loads loads;
    private final Waits waits;
    private final Counters counters;
    private final ErrorLog errors = new ErrorLog(Clock.systemUTC());
    private final ScheduledExecutorService timer = timer();
    private final ExecutorService work;
    private final ExecutorService verification;
    private final Requests requests;
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final AtomicBoolean sweeping = new AtomicBoolean();
    private final CompletableFuture<CleanUp> stopped = new CompletableFuture<>();
    private final Sampling sampling;
    private final ControlServer control;
    private volatile @Nullable MetricsEndpoint metrics;
    private volatile boolean catalogLost;

    private Daemon(DaemonConfig config, Store store) throws IOException {
        this.store = store;
        this.verification = Executors.newSingleThreadExecutor(daemonThreads("larder-verify"));
        this.work = Executors.newFixedThreadPool(WORK_THREADS, daemonThreads("larder-work"));
        this.catalog = Catalog.open(store.layout().catalog(), store.wasLeftClean());
        this.residency = new Residency(store, catalog, this::loseCatalog, System::currentTimeMillis);
        int workers =
                config.workers() > 0 ? config.workers() : Runtime.getRuntime().availableProcessors();
        this.loads = new Loads(store, residency, workers);
        this.waits = new Waits(residency, loads, timer);
        this.counters = Counters.create(
                store.layout().counters(), ProcessHandle.current().pid(), System.currentTimeMillis());
        residency.adopt((folder, reason) -> report("removed a version that was not whole", reason));
        counters.set(Counter.CAPACITY_BYTES, store.capacityBytes());
        Usage usage = new Usage(counters, System::nanoTime);
        this.sampling = new Sampling(this::uses, counters, usage, loads, e -> report("cannot look at the store", e));
        this.requests = new Requests(
                this,
                store,
                residency,
                loads,
                waits,
                new Turns(this, residency, loads, timer, work),
                work,
                verification);
        this.control = ControlServer.start(
                ControlSettings.of(store.layout(), ReleaseVersion.text()),
                new CountedRequests(
                        requests, usage, dataset -> residency.find(dataset).isPresent()),
                counters,
                errors);
        afterChange();
        sampling.start();
    }

    /**
     * Starts a daemon on a store: refuses one that another daemon owns, adopts what an earlier one left, and listens.
     *
     * @throws LarderException REFUSED with the owner's pid, NO_SPACE, USAGE for a path that is too long
     */
    public static Daemon start(DaemonConfig config) {
        Store store = Store.open(new StoreLayout(config.store()), config.capacityBytes());
        try {
            return new Daemon(config, store);
        } catch (IOException e) {
            store.abandon();
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot start the daemon")
                    .with("store", config.store())
                    .with("reason", e)
                    .cause(e)
                    .exception();
        } catch (RuntimeException | Error e) {
            store.abandon();
            throw e;
        }
    }

    /** Returns the folder and names of the store. */
    public StoreLayout layout() {
        return store.layout();
    }

    /**
     * Loads sources and returns when all are published.
     *
     * @throws LarderException as the load fails; INTERRUPTED where the daemon was stopped meanwhile
     */
    public Done load(LoadRequest request, ProgressListener listener) {
        Load load = startLoad(request);
        load.listen(listener);
        try {
            CompletableFuture.anyOf(load.outcome(), stopped).get();
            if (!load.outcome().isDone()) {
                throw Failure.of(ErrorCode.INTERRUPTED, "load was cancelled").exception();
            }
            return load.outcome().get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof LarderException failure) {
                throw failure;
            }
            throw new IllegalStateException("load failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            load.leave();
            throw Failure.of(ErrorCode.INTERRUPTED, "load was interrupted").exception();
        }
    }

    /** Starts a load, and counts and reports how it ends; a request for what is being loaded just so joins that load. */
    synchronized Load startLoad(LoadRequest request) {
        request.sources().forEach(source -> Names.requireDataset(source.name()));
        Optional<Load> joined = loads.join(request);
        if (joined.isPresent()) {
            return joined.get();
        }
        Load load = loads.start(request);
        watch(load);
        return load;
    }

    /** Starts a build by a client, unless the dataset is being loaded or built already. */
    Optional<Upload> tryStartUpload(String dataset, long bytes) {
        Optional<Upload> upload = loads.tryStartUpload(dataset, bytes);
        upload.ifPresent(this::watch);
        return upload;
    }

    private void watch(Ingest ingest) {
        waits.started(ingest);
        boolean isBuild = ingest instanceof Upload;
        long beginNs = System.nanoTime();
        counters.increment(Counter.LOADING);
        ingest.whenEnded((done, failure) -> {
            counters.add(Counter.LOADING, -1);
            if (failure == null) {
                counters.increment(isBuild ? Counter.BUILDS : Counter.LOADS);
            } else {
                counters.increment(isBuild ? Counter.BUILD_FAILURES : Counter.LOAD_FAILURES);
            }
            LOG.info(
                    "{}: datasets={} ms={}{}",
                    failure == null ? "published" : "not published",
                    ingest.datasets(),
                    (System.nanoTime() - beginNs) / 1_000_000,
                    failure == null ? "" : " reason=" + failure.getMessage());
            afterChange();
        });
    }

    /** Starts to load a dataset again, from where and in the way it was loaded. */
    Load startReload(String name) {
        requireDataset(name, "loaded again", "reload");
        PublishedVersion version = residency.require(name);
        if (version.origins().isEmpty()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "dataset was computed, so there is nothing to load it from")
                    .with("dataset", name)
                    .remedy("compute it again");
        }
        List<LoadRequest.Source> sources = version.origins().stream()
                .map(path -> new LoadRequest.Source(name, path))
                .toList();
        return startLoad(new LoadRequest(sources, version.provenance().options().withEvenIfUnchanged(true), 0));
    }

    /** Removes the current version of a dataset; the name of one of its arrays is refused, as versions leave whole. */
    PublishedVersion evict(String name) {
        requireDataset(name, "evicted", "evict");
        PublishedVersion evicted = residency.evict(name);
        counters.increment(Counter.EVICTIONS);
        afterChange();
        return evicted;
    }

    private static void requireDataset(String name, String what, String command) {
        if (name.indexOf('/') >= 0) {
            throw Failure.of(ErrorCode.USAGE, "only a whole dataset can be " + what)
                    .with("name", name)
                    .remedy("larder " + command + " " + ArrayName.parse(name).dataset());
        }
    }

    /** Brings the counters up to date, and sees to it that retired versions go once their readers have. */
    private void afterChange() {
        List<PublishedVersion> current = residency.current();
        counters.set(Counter.DATASETS, current.size());
        counters.set(
                Counter.ARRAYS,
                current.stream().mapToLong(v -> v.arrays().size()).sum());
        sampling.soon();
        if (!residency.retired().isEmpty() && !stopping.get() && sweeping.compareAndSet(false, true)) {
            var unused = timer.schedule(this::sweep, RETIRED_SWEEP_MS, TimeUnit.MILLISECONDS);
        }
    }

    private void sweep() {
        sweeping.set(false);
        try {
            residency.removeRetired();
        } catch (RuntimeException e) {
            report("cannot remove a retired version", e);
        }
        afterChange();
    }

    /** Looks at how every version that has files is used. */
    private List<VersionUse> uses() {
        List<PublishedVersion> retired = residency.retired();
        List<PublishedVersion> all = residency.all();
        Map<Path, List<Long>> holders = store.holders(all);
        return all.stream()
                .map(version -> {
                    List<Long> pids = holders.getOrDefault(version.folder(), List.of());
                    return new VersionUse(
                            version.dataset(),
                            version.version(),
                            version.storedBytes(),
                            retired.stream().anyMatch(version::isSameAs),
                            Files.exists(version.folder().resolve(StoreLayout.PINNED)),
                            !pids.isEmpty() || store.isLeased(version),
                            pids);
                })
                .toList();
    }

    /** Has an action run once nothing has been leased, asked for or loading for this long; see {@link #stop}. */
    public void whenIdle(Duration limit, Runnable action) {
        sampling.whenIdle(limit, action);
    }

    /**
     * Serves metrics over HTTP, to this machine only and to those who know the token, until the daemon stops.
     *
     * @param port 0 for any that is free
     * @return where to read them; the token is part of it
     * @throws LarderException REFUSED where the port is taken
     */
    public URI serveMetrics(int port) {
        MetricsEndpoint endpoint =
                MetricsEndpoint.start(port, store.layout().token(), new Exposition(counters, sampling::now)::snapshots);
        metrics = endpoint;
        if (stopping.get()) { // which may have looked before there was one
            endpoint.close();
        }
        return endpoint.address();
    }

    private void loseCatalog(Throwable failure) {
        catalogLost = true;
        report("catalog failed; it is rebuilt at the next start", failure);
    }

    /** Returns the errors that were met, one row for each kind, the one seen last at the end. */
    List<ErrorRow> errors() {
        return errors.entries().stream()
                .map(entry ->
                        new ErrorRow(entry.count(), entry.first(), entry.last(), entry.message(), entry.stackTrace()))
                .toList();
    }

    /** Notes an error that no client is told of. */
    void report(String what, Throwable failure) {
        errors.record(failure);
        LOG.warn("{}: {}", what, failure.getMessage());
    }

    /**
     * Stops accepting, ends loads, and unlinks everything the store holds, or leaves it in order where {@code keep}. The first
     * call does it; later ones wait for its result.
     */
    public CleanUp stop(boolean keep) {
        return stop(keep, cleanUp -> {});
    }

    /** Stops, and tells {@code report} the result while clients can still be answered. */
    CleanUp stop(boolean keep, Consumer<CleanUp> report) {
        if (stopping.compareAndSet(false, true)) {
            try {
                CleanUp cleanUp = stopNow(keep);
                report.accept(cleanUp);
                stopped.complete(cleanUp);
            } catch (IOException | RuntimeException | Error e) {
                stopped.completeExceptionally(e);
            }
        }
        return awaitStop(STOP_TIMEOUT_SECONDS);
    }

    private CleanUp stopNow(boolean keep) throws IOException {
        try {
            LOG.info("stopping: store={} keep={}", store.layout().root(), keep);
            control.stopAccepting();
            sampling.close();
            MetricsEndpoint endpoint = metrics;
            if (endpoint != null) {
                endpoint.close();
            }
            waits.close();
            loads.close(LOADS_END_MS);
            timer.shutdownNow();
            catalog.close();
        } catch (IOException | RuntimeException e) {
            report("stopping did not go in order", e); // what counts is that the files go
        }
        if (keep) {
            if (catalogLost) {
                Files.deleteIfExists(store.layout().catalog());
            }
            store.close();
            return new CleanUp(0, 0, 0, List.of());
        }
        return store.removeAll(residency.all());
    }

    /** Waits until somebody stopped the daemon, and returns what that did. */
    public CleanUp awaitStop() {
        return awaitStop(Long.MAX_VALUE);
    }

    private CleanUp awaitStop(long timeoutSeconds) {
        try {
            CleanUp cleanUp = stopped.get(timeoutSeconds, TimeUnit.SECONDS);
            control.close();
            work.shutdown();
            verification.shutdown();
            return cleanUp;
        } catch (ExecutionException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "clean-up failed")
                    .with("store", store.layout().root())
                    .with("reason", e.getCause())
                    .cause(e)
                    .remedy("remove the folder by hand");
        } catch (TimeoutException e) {
            throw Failure.of(ErrorCode.DEADLINE, "clean-up takes too long")
                    .with("store", store.layout().root())
                    .with("seconds", timeoutSeconds)
                    .cause(e)
                    .remedy("remove the folder by hand");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting for the daemon")
                    .exception();
        }
    }

    @Override
    public void close() {
        stop(false);
    }

    private static ScheduledExecutorService timer() {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, daemonThreads("larder-timer"));
        timer.setRemoveOnCancelPolicy(true);
        return timer;
    }

    private static ThreadFactory daemonThreads(String name) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }
}
