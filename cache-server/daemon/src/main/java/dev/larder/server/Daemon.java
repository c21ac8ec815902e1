package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.layout.ArrayName;
import dev.larder.layout.Names;
import dev.larder.layout.StoreLayout;
import dev.larder.layout.StoreOwner;
import dev.larder.protocol.Done;
import dev.larder.protocol.ErrorRow;
import dev.larder.protocol.LoadRequest;
import dev.larder.protocol.ProgressListener;
import dev.larder.protocol.ReleaseVersion;
import dev.larder.protocol.Request;
import dev.larder.server.catalog.Catalog;
import dev.larder.server.control.ControlServer;
import dev.larder.server.control.ControlSettings;
import dev.larder.server.control.RequestHandler;
import dev.larder.server.http.Exposition;
import dev.larder.server.http.MetricsEndpoint;
import dev.larder.server.ingest.GroupQuota;
import dev.larder.server.ingest.Ingest;
import dev.larder.server.ingest.Load;
import dev.larder.server.ingest.Loads;
import dev.larder.server.ingest.Upload;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import dev.larder.server.metrics.Sampler;
import dev.larder.server.residency.Residency;
import dev.larder.server.source.Source;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.store.CleanUp;
import dev.larder.server.store.Provenance;
import dev.larder.server.store.PublishedVersion;
import dev.larder.server.store.Publisher;
import dev.larder.server.store.Registration;
import dev.larder.server.store.Store;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
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
    private static final int ROOM_THREADS = 8;
    private static final long LOADS_END_MS = 1_000;
    private static final long STOP_TIMEOUT_SECONDS = 60;
    private static final long SAMPLING_END_MS = 200;
    private static final long UPLOAD_LOOK_MS = 250;
    private static final long RETIRED_SWEEP_MS = 500;

    private final Store store;
    private final Catalog catalog;
    private final Residency residency;
    private final Loads loads;
    private final PendingWaits waits;
    private final Counters counters;
    private final ErrorLog errors = new ErrorLog(Clock.systemUTC());
    private final ScheduledExecutorService timer = timer("larder-timer");
    private final ScheduledExecutorService sampling = timer("larder-sample");
    private final ScheduledExecutorService uploadLooks = timer("larder-uploads");
    private final ExecutorService work;
    private final ExecutorService room;
    private final ExecutorService verification;
    private final Access access;
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final AtomicBoolean sweeping = new AtomicBoolean();
    private final CompletableFuture<CleanUp> stopped = new CompletableFuture<>();
    private final IdleMonitor idle;
    private final RequestHandler handler;
    private final RegionServer regions;
    private final Recovery recovery;
    private volatile ControlServer control;
    private volatile @Nullable MetricsEndpoint metrics;
    private final StoreMonitor monitor;
    private final long pid = ProcessHandle.current().pid();
    private final long startEpochMs = System.currentTimeMillis();
    private volatile boolean catalogLost;

    private Daemon(DaemonConfig config, Store store) throws IOException {
        this.store = store;
        this.verification = Executors.newSingleThreadExecutor(daemonThreads("larder-verify"));
        this.work = Executors.newFixedThreadPool(WORK_THREADS, daemonThreads("larder-work"));
        this.room = Executors.newFixedThreadPool(ROOM_THREADS, daemonThreads("larder-room"));
        this.catalog = Catalog.open(store.layout().catalog(), store.wasLeftClean());
        this.residency = new Residency(store, catalog, this::loseCatalog, new SteadyClock());
        int workers =
                config.workers() > 0 ? config.workers() : Runtime.getRuntime().availableProcessors();
        GroupQuota quota = new GroupQuota(residency, config.sharing().quotaBytes(store.capacityBytes()));
        this.loads = new Loads(store, residency, quota, workers);
        this.waits = new PendingWaits(this, residency, loads, timer);
        this.counters = Counters.create(store.layout().counters(), pid, startEpochMs);
        store.sweepShared();
        residency.adopt(
                config.verifies(), (folder, reason) -> report("what an earlier daemon left is not whole", reason));
        counters.set(Counter.CAPACITY_BYTES, store.capacityBytes());
        this.monitor = new StoreMonitor(this, store, residency, sampling);
        this.access = new Access(residency, StoreOwner.of(store.layout().root()));
        Activity activity = new Activity(counters, System::nanoTime);
        this.idle = new IdleMonitor(
                new Sampler(counters, new VersionUses(store, residency)),
                activity,
                loads,
                store.regions()::isUsed,
                sampling,
                this::reportLook);
        Requests requests = new Requests(
                this,
                store,
                residency,
                loads,
                waits,
                new BuildQueue(this, residency, loads, timer, room),
                work,
                room,
                verification);
        this.handler = new CountedRequests(
                requests, activity, dataset -> residency.find(dataset).isPresent());
        this.recovery = new Recovery(this, residency, loads);
        this.control = listen();
        this.regions = RegionServer.start(store, failure -> report("cannot hand out regions", failure));
        if (config.sharing().group().isPresent()) {
            var unused = uploadLooks.scheduleWithFixedDelay(
                    this::watchUploads, UPLOAD_LOOK_MS, UPLOAD_LOOK_MS, TimeUnit.MILLISECONDS);
        }
        afterChange();
        monitor.start();
        recovery.start();
    }

    /** A member that writes more than it announced loses only its own upload. */
    private void watchUploads() {
        Guarded.run(loads::requireAnnounced, failure -> report("cannot look after uploads", failure));
    }

    /**
     * Starts a daemon on a store: refuses one that another daemon owns, adopts what an earlier one left, and listens.
     *
     * @throws LarderException REFUSED with the owner's pid, NO_SPACE, USAGE for a path that is too long
     */
    public static Daemon start(DaemonConfig config) {
        Store store = Store.open(
                new StoreLayout(config.store()),
                config.capacityBytes(),
                config.sharing().group());
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

    /** Does ahead what the first daemon of a JVM costs beyond its store; to be called beside other work. */
    public static void prepare() {
        Catalog.prepare();
    }

    /** Returns who may change what. */
    Access access() {
        return access;
    }

    private ControlServer listen() {
        return ControlServer.start(
                ControlSettings.of(store.layout(), ReleaseVersion.text()), handler, counters, errors);
    }

    /** Returns how much mount and control group let the store hold, whatever its capacity. */
    public long mostBytes() {
        return store.mostBytes();
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
    Optional<Upload> tryStartUpload(Request.Create request, Publisher publisher, BooleanSupplier isWanted) {
        Optional<Upload> upload = loads.tryStartUpload(request, publisher, isWanted);
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
                errors.recordIfUnexpected(failure);
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

    /** Mends a version that is not whole, or gives it up because somebody removed its files; see {@link Residency#mend}. */
    void mendIfDamaged(String dataset) {
        Optional<PublishedVersion> version = residency.find(dataset);
        if (version.isPresent() && residency.mend(version.get(), monitor::reportVanished)) {
            afterChange();
        }
    }

    /** Starts to load what is not resident where its source is known; returns the load that is under way where there is one. */
    synchronized Optional<? extends Ingest> readThrough(String dataset) {
        Optional<Ingest> running = loads.find(dataset);
        Optional<Registration> known = running.isPresent() ? Optional.empty() : residency.registration(dataset);
        return known.isPresent() ? known.map(source -> startLoad(source.request())) : recovery.recheckAgain(dataset);
    }

    /** Notes where datasets can be loaded from; the first who asks for one has it loaded. */
    Done register(LoadRequest request) {
        request.sources().forEach(source -> Names.requireDataset(source.name()));
        Map<String, List<String>> origins = new TreeMap<>();
        for (LoadRequest.Source source : request.sources()) {
            if (!Files.isReadable(source.file())) {
                throw Failure.of(ErrorCode.BAD_INPUT, "source does not exist or cannot be read")
                        .with("dataset", source.name())
                        .with("path", source.path())
                        .remedy("name a file or folder that the daemon can read");
            }
            Source.requireLikely(
                    source.name(),
                    source.file(),
                    SourceOptions.of(request.options()),
                    request.options().inPlace());
            origins.computeIfAbsent(source.name(), name -> new ArrayList<>()).add(source.path());
        }
        origins.keySet().forEach(residency::requireRegistrable);
        origins.forEach((dataset, paths) -> residency.register(Registration.ofSource(
                dataset,
                new Provenance(
                        paths,
                        request.options(),
                        List.of(),
                        request.retention().ttl().toMillis()))));
        return Done.of(0, 0, "registered " + String.join(", ", origins.keySet()));
    }

    /** Starts to load a dataset again, from where and in the way it was loaded. */
    Load startReload(String name) {
        requireDataset(name, "loaded again", "reload");
        Optional<Registration> known = residency.registration(name);
        if (known.isPresent()) {
            return startLoad(known.get().request());
        }
        PublishedVersion version = residency.require(name);
        if (!version.isSourced()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "dataset was computed, so there is nothing to load it from")
                    .with("dataset", name)
                    .remedy("compute it again");
        }
        LoadRequest again = Registration.of(version).request();
        return startLoad(new LoadRequest(again.sources(), again.options().withEvenIfUnchanged(true), 0)
                .withRetention(again.retention()));
    }

    /** Removes the current version of a dataset; the name of one of its arrays is refused, as versions leave whole. */
    Optional<PublishedVersion> evict(String name, boolean forgetSource) {
        requireDataset(name, "evicted", "evict");
        Optional<PublishedVersion> evicted = residency.evict(name, forgetSource);
        afterChange();
        return evicted;
    }

    /** Keeps a dataset resident until it is unpinned. */
    void pin(String name, boolean pinned) {
        requireDataset(name, "pinned", "pin");
        residency.pin(name, pinned);
        afterChange();
    }

    private static void requireDataset(String name, String what, String command) {
        if (name.indexOf('/') >= 0) {
            throw Failure.of(ErrorCode.USAGE, "only a whole dataset can be " + what)
                    .with("name", name)
                    .remedy("larder " + command + " " + ArrayName.parse(name).dataset());
        }
    }

    /** Brings the counters up to date, and sees to it that retired versions go once their readers have. */
    void afterChange() {
        List<PublishedVersion> current = residency.current();
        counters.set(Counter.DATASETS, current.size());
        counters.set(
                Counter.ARRAYS,
                current.stream().mapToLong(v -> v.arrays().size()).sum());
        counters.set(Counter.EVICTIONS, residency.evictions());
        idle.soon();
        if (!residency.retired().isEmpty() && !stopping.get() && sweeping.compareAndSet(false, true)) {
            try {
                var unused = sampling.schedule(this::sweep, RETIRED_SWEEP_MS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException stopped) {
                return; // all of it is removed
            }
        }
    }

    private void sweep() {
        sweeping.set(false);
        Guarded.run(residency::removeRetired, failure -> report("cannot remove a retired version", failure));
        afterChange();
    }

    private void reportLook(Throwable failure) {
        if (!stopping.get()) { // else files go while one looks
            report("cannot look at what is in use", failure);
        }
    }

    /** Has an action run once nothing has been leased, asked for or loading for this long; see {@link #stop}. */
    public void whenIdle(Duration limit, Runnable action) {
        idle.whenIdle(limit, action);
    }

    /**
     * Serves metrics over HTTP, to this machine only and to those who know the token, until the daemon stops.
     *
     * @param port 0 for any that is free
     * @param hosts by which names, besides those of the loopback interface, requests may call the server
     * @return where to read them; the token is part of it
     * @throws LarderException REFUSED where the port is taken
     */
    public URI serveMetrics(int port, Set<String> hosts) {
        MetricsEndpoint endpoint = MetricsEndpoint.start(
                port, hosts, store.layout().token(), new Exposition(counters, idle::now)::snapshots);
        metrics = endpoint;
        if (stopping.get()) { // which may have looked before there was one
            endpoint.close();
        }
        return endpoint.address();
    }

    /** Tells whether it ends, or has ended. */
    boolean isStopping() {
        return stopping.get();
    }

    /** Listens again where somebody has removed the socket. */
    void listenAgain() {
        control.close();
        control = listen();
        if (stopping.get()) { // which may have ended the one before
            control.close();
        }
    }

    /** Makes the counters' file anew where somebody has removed it, and notes where the catalog's is gone: the next start makes that. */
    void restoreFiles() {
        counters.restoreIfRemoved(store.layout().counters(), pid, startEpochMs);
        catalogLost |= !Files.exists(store.layout().catalog());
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
        LOG.info("stopping: store={} keep={}", store.layout().root(), keep);
        endEach(List.of(
                control::stopAccepting,
                regions::close,
                this::endMetrics,
                waits::close,
                () -> loads.close(LOADS_END_MS),
                this::endLooks,
                catalog::close));
        if (keep) {
            if (catalogLost && store.isInPlace()) {
                Files.deleteIfExists(store.layout().catalog());
            }
            store.close();
            return new CleanUp(0, 0, 0, List.of());
        }
        return store.removeAll(residency.all());
    }

    /** One step of stopping. */
    @FunctionalInterface
    private interface Step {
        void end() throws IOException;
    }

    /** One that fails does not keep the others: what counts is that the files go. */
    private void endEach(List<Step> steps) {
        for (Step step : steps) {
            try {
                step.end();
            } catch (IOException | RuntimeException e) {
                report("stopping did not go in order", e);
            }
        }
    }

    private void endMetrics() {
        MetricsEndpoint endpoint = metrics;
        if (endpoint != null) {
            endpoint.close();
        }
    }

    /** Waits a moment for a look that is under way: it would make anew, and report, what is being removed. */
    private void endLooks() {
        timer.shutdownNow();
        uploadLooks.shutdownNow();
        sampling.shutdownNow();
        try {
            if (!sampling.awaitTermination(SAMPLING_END_MS, TimeUnit.MILLISECONDS)) {
                LOG.debug("a look at the store has not ended yet");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Tells whether the daemon has ended, and has cleaned up where that was its to do. */
    public boolean isStopped() {
        return stopped.isDone();
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
            room.shutdown();
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

    private static ScheduledExecutorService timer(String name) {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, daemonThreads(name));
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
