package dev.larder.server;

import dev.larder.error.LarderException;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.layout.StoreOwner;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.ReleaseVersion;
import dev.larder.server.catalog.Catalog;
import dev.larder.server.catalog.CatalogEntry;
import dev.larder.server.control.ControlServer;
import dev.larder.server.control.ControlSettings;
import dev.larder.server.http.Exposition;
import dev.larder.server.http.HttpEndpoint;
import dev.larder.server.http.HttpResource;
import dev.larder.server.ingest.GroupQuota;
import dev.larder.server.ingest.Loads;
import dev.larder.server.loaders.LoaderWatch;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import dev.larder.server.metrics.UsageSampler;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.CleanUp;
import dev.larder.server.store.Store;
import dev.larder.server.store.space.Space;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running daemon: owns a store, loads datasets into it, answers clients, and cleans up.
 *
 * <p>{@link #start} returns when clients can connect. {@link #stop} may be called at any time from any thread, including a signal
 * handler's. Thread-safe.
 */
public final class Daemon implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Daemon.class);
    private static final long LOADS_END_MS = 1_000;
    private static final long UPLOAD_LOOK_MS = 250;

    private final Store store;
    private final Residency residency;
    private final Loads loads;
    private final LoadService loadService;
    private final PendingWaits waits;
    private final Counters counters;
    private final ErrorLog errors;
    private final DaemonThreads threads = new DaemonThreads();
    private final IdleMonitor idle;
    private final Maintenance maintenance;
    private final StoreMonitor monitor;
    private final ControlListener control;
    private final Shutdown shutdown;
    private final Overview overview;
    private volatile @Nullable HttpEndpoint http;

    /**
     * Creates the parts and adopts the contents of the store. The parts do nothing before {@link #begin}. Lambdas here use locals, not
     * fields, because this object is not complete yet.
     */
    private Daemon(DaemonConfig config, Store store) throws IOException {
        StoreLayout layout = store.layout();
        ErrorLog errors = new ErrorLog(Clock.systemUTC());
        Shutdown shutdown = new Shutdown(layout.root());
        this.store = store;
        this.errors = errors;
        this.shutdown = shutdown;
        Residency residency = new Residency(store, new SteadyClock());
        this.residency = residency;
        this.loads = loads(config, store, residency);
        Counters counters = counters(store);
        this.counters = counters;
        store.sweepShared();
        residency.adopt(
                config.verifies(),
                Catalog.take(layout.catalog(), store.wasLeftClean()),
                (folder, reason) -> reportDamage(reason, errors));
        Activity activity = new Activity(counters, System::nanoTime);
        UsageSampler sampler = new UsageSampler(counters, new VersionUses(store, residency));
        Consumer<Throwable> looks = untilStop("cannot check what is in use", errors, shutdown);
        this.idle = new IdleMonitor(sampler, activity, loads, store.regions()::isUsed, threads.sampling(), looks);
        Consumer<Throwable> moves = untilStop("cannot move data to huge pages", errors, shutdown);
        PageCollapse pages = pages(config, store, residency, loads, threads, shutdown, moves);
        this.maintenance =
                new Maintenance(residency, counters, idle, pages, errors, threads.sampling(), shutdown::isStopping);
        this.loadService = new LoadService(loads, residency, maintenance, counters, errors, shutdown);
        this.waits = new PendingWaits(residency, loads, loadService, maintenance, threads.timer());
        loadService.onStarted(waits::started);
        this.overview = new Overview(store, residency, loads, pages, counters, errors);
        Access access = new Access(residency, StoreOwner.of(layout.root()));
        RequestService requests = new RequestService(
                store,
                residency,
                loadService,
                maintenance,
                access,
                waits,
                new BuildQueue(residency, loads, loadService, access, threads),
                overview,
                threads,
                errors,
                shutdown);
        CountedRequests handler = new CountedRequests(
                requests, activity, name -> residency.find(name).isPresent());
        ControlSettings settings = ControlSettings.of(layout, ReleaseVersion.text());
        this.control = new ControlListener(
                () -> ControlServer.start(settings, handler, counters, errors), shutdown::isStopping);
        this.monitor = new StoreMonitor(
                store,
                residency,
                maintenance,
                control,
                () -> counters.restoreIfRemoved(layout.counters()),
                errors,
                shutdown,
                threads.sampling());
    }

    private static void reportDamage(Throwable reason, ErrorLog errors) {
        errors.report("data of an earlier daemon cannot be used as it is", reason);
    }

    private static Counters counters(Store store) throws IOException {
        Path file = store.layout().counters();
        Counters counters = Counters.create(file, ProcessHandle.current().pid(), System.currentTimeMillis());
        counters.set(Counter.CAPACITY_BYTES, store.capacityBytes());
        return counters;
    }

    private Loads loads(DaemonConfig config, Store store, Residency residency) {
        GroupQuota quota = new GroupQuota(residency, config.sharing().quotaBytes(store.capacityBytes()));
        int workers =
                config.workers() > 0 ? config.workers() : Runtime.getRuntime().availableProcessors();
        return new Loads(store, residency, quota, workers, threads.loads());
    }

    private static PageCollapse pages(
            DaemonConfig config,
            Store store,
            Residency residency,
            Loads loads,
            DaemonThreads threads,
            Shutdown shutdown,
            Consumer<Throwable> onFailure) {
        FreeMemory memory = new FreeMemory();
        return new PageCollapse(
                residency::all,
                store::pages,
                () -> loads.running().isEmpty() && !memory.isShort(),
                shutdown::isStopping,
                PageCollapse.Pace.usual(config.collapses()
                        && !store.memoryPolicy().isSpread()), // a collapse would put each piece on the lowest node
                threads.pages(),
                onFailure);
    }

    /** Reports failures, except while the daemon stops: files disappear then while they are examined. */
    private static Consumer<Throwable> untilStop(String what, ErrorLog errors, Shutdown shutdown) {
        return failure -> {
            if (!shutdown.isStopping()) {
                errors.report(what, failure);
            }
        };
    }

    /** Lets clients in, and starts the background work. */
    private void begin(boolean isShared) {
        shutdown.prepare(this::end, this::endAnswers);
        control.listen();
        if (isShared) {
            var unused = threads.uploads()
                    .scheduleWithFixedDelay(this::watchUploads, UPLOAD_LOOK_MS, UPLOAD_LOOK_MS, TimeUnit.MILLISECONDS);
        }
        maintenance.afterChange();
        monitor.start();
        loadService.recover();
    }

    /** Checks uploads. A member that writes more than it announced loses only its own upload. */
    private void watchUploads() {
        Guarded.run(loads::requireAnnounced, failure -> errors.report("cannot check uploads", failure));
    }

    /**
     * Starts a daemon on a store: takes the store over, adopts its versions, and listens.
     *
     * @throws LarderException REFUSED with the owner's pid if another daemon owns the store, NO_SPACE, or USAGE if the path is too long
     */
    public static Daemon start(DaemonConfig config) {
        Store store = Store.open(
                new StoreLayout(config.store()),
                config.capacityBytes(),
                config.sharing().group());
        try {
            Daemon daemon = new Daemon(config, store);
            daemon.begin(config.sharing().group().isPresent());
            return daemon;
        } catch (IOException e) {
            store.abandon();
            throw Space.failed("cannot start the daemon", config.store(), e);
        } catch (RuntimeException | Error e) {
            store.abandon();
            throw e;
        }
    }

    /** Does in advance the work that the first daemon of a JVM needs besides its store. Called in parallel with other work. */
    public static void prepare() {
        Posix.system();
    }

    /** Returns how much the mount and the cgroup let the store hold. The capacity may be smaller. */
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
     * @throws LarderException if the load fails; INTERRUPTED if the daemon was stopped meanwhile
     */
    public Done load(LoadRequest request, ProgressListener listener) {
        return loadService.load(request, listener);
    }

    /**
     * Names the datasets that the caller will load one by one if a load of several fails: waits for them outlive that load, and its failure
     * is not counted.
     */
    public void loadedApart(Set<String> datasets) {
        loadService.loadedApart(datasets);
        waits.endUnexpected();
    }

    /**
     * Records that a dataset could not be loaded. The daemon lists it with its errors, and loads it on a reload or at the first open.
     *
     * @param request a load of this dataset only
     */
    public boolean postpone(LoadRequest request) {
        return loadService.postpone(request);
    }

    /** Runs an action once nothing has been leased, requested or loading for this long; see {@link #stop}. */
    public void whenIdle(Duration limit, Runnable action) {
        idle.whenIdle(limit, action);
    }

    /** Returns whether the store has computed data, which cannot be loaded again from a source. */
    public boolean holdsComputed() {
        return residency.current().stream().anyMatch(version -> !version.isSourced());
    }

    /** Returns the read-only view of this daemon. */
    public Overview overview() {
        return overview;
    }

    /**
     * Serves metrics and other resources over HTTP until the daemon stops. Only clients on this machine that have the token are answered.
     *
     * @param port 0 for any free port
     * @param hosts host names that requests may use, besides those of the loopback interface
     * @param tokenFile a file that keeps the token across starts, created if it is absent; null for a new token
     * @param resources further resources, by path
     * @return the address of a path, including the token
     * @throws LarderException REFUSED if the port is taken, or other users can read the kept token
     */
    public Function<String, URI> serveHttp(
            int port, Set<String> hosts, @Nullable Path tokenFile, Map<String, HttpResource> resources) {
        Map<String, HttpResource> all = new HashMap<>(resources);
        LoaderWatch loaders = new LoaderWatch(store.layout());
        all.put(HttpEndpoint.METRICS, new Exposition(counters, idle::now, loaders::look));
        StoreOwner owner = StoreOwner.of(store.layout().root());
        HttpEndpoint.TokenPlace place =
                new HttpEndpoint.TokenPlace(store.layout().token(), tokenFile, owner.isShared() ? owner.gid() : null);
        HttpEndpoint endpoint = HttpEndpoint.start(port, hosts, place, all);
        http = endpoint;
        overview.statusPageIsAt(endpoint.address());
        startHistory();
        if (shutdown.isStopping()) { // a stop may have run before this was set
            endpoint.close();
        }
        return endpoint::address;
    }

    /** Samples for the charts of the status page, once a second. */
    private void startHistory() {
        Runnable sample = () -> Guarded.run(
                overview::addToHistory, failure -> errors.report("cannot sample for the status page", failure));
        try {
            var unused = threads.sampling().scheduleWithFixedDelay(sample, 0, 1, TimeUnit.SECONDS);
        } catch (RejectedExecutionException stopped) {
            return; // there is no page any more
        }
    }

    /**
     * Stops accepting, ends loads, and removes the store or, with {@code keep}, leaves it in order. The first call does it; later ones wait
     * for its result.
     */
    public CleanUp stop(boolean keep) {
        return shutdown.stop(keep, cleanUp -> {});
    }

    private CleanUp end(boolean keep) throws IOException {
        LOG.info("stopping: store={} keep={}", store.layout().root(), keep);
        endEach(List.of(
                control::stopAccepting,
                this::endHttp,
                waits::close,
                () -> loads.close(LOADS_END_MS),
                threads::endSchedules));
        if (keep) {
            writeCatalog();
            store.close();
            return new CleanUp(0, 0, 0, List.of());
        }
        return store.removeAll(residency.all());
    }

    /** Writes the times of last use before the store is marked as left in order. If that fails, the next daemon begins to learn them again. */
    private void writeCatalog() {
        List<CatalogEntry> lastUses = residency.lastUses();
        if (!lastUses.isEmpty() && store.isInPlace()) {
            Guarded.run(
                    () -> Catalog.write(store.layout().catalog(), lastUses),
                    failure -> errors.report("times of last use are forgotten at the next start", failure));
        }
    }

    private void endAnswers() {
        control.close();
        threads.endWork();
    }

    /** One step of stopping. */
    @FunctionalInterface
    private interface Step {
        void end() throws IOException;
    }

    /** Runs all steps even if some fail: the files must be removed. */
    private void endEach(List<Step> steps) {
        for (Step step : steps) {
            try {
                step.end();
            } catch (IOException | RuntimeException e) {
                errors.report("stopping failed in part", e);
            }
        }
    }

    private void endHttp() {
        HttpEndpoint endpoint = http;
        if (endpoint != null) {
            endpoint.close();
        }
    }

    /** Returns whether the daemon has stopped and cleaned up. */
    public boolean isStopped() {
        return shutdown.isOver();
    }

    /** Waits until the daemon has been stopped, and returns the result. */
    public CleanUp awaitStop() {
        return shutdown.await(Long.MAX_VALUE);
    }

    @Override
    public void close() {
        stop(false);
    }
}
