package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.process.FlightRecording;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Request;
import dev.larder.server.control.Peer;
import dev.larder.server.ingest.Ingest;
import dev.larder.server.ingest.LoadJob;
import dev.larder.server.ingest.Loads;
import dev.larder.server.ingest.Recheck;
import dev.larder.server.ingest.Upload;
import dev.larder.server.metrics.Counter;
import dev.larder.server.metrics.Counters;
import dev.larder.server.metrics.ErrorLog;
import dev.larder.server.remote.StagedSources;
import dev.larder.server.residency.Residency;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.scan.ScannedSource;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Publisher;
import dev.larder.server.store.version.Registration;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts loads, builds of clients, and the recovery, and counts and reports their outcomes. The recovery of a store that was taken over
 * compares checksums, and loads lost datasets again if they were pinned. Thread-safe.
 */
final class LoadService {
    private static final Logger LOG = LoggerFactory.getLogger(LoadService.class);

    private final Loads loads;
    private final Residency residency;
    private final Maintenance maintenance;
    private final Counters counters;
    private final ErrorLog errors;
    private final Shutdown shutdown;
    private final List<Recheck> rechecks;
    private volatile Consumer<Ingest> onStarted = ingest -> {};
    private volatile Set<String> loadedApart = Set.of();

    /** From now on, clients wait for versions of an earlier boot until {@link #recover} has compared their checksums. */
    LoadService(
            Loads loads,
            Residency residency,
            Maintenance maintenance,
            Counters counters,
            ErrorLog errors,
            Shutdown shutdown) {
        this.loads = loads;
        this.residency = residency;
        this.maintenance = maintenance;
        this.counters = counters;
        this.errors = errors;
        this.shutdown = shutdown;
        this.rechecks = loads.recheck(residency.unverified().all());
    }

    /** Sets the listener for the start of every load and build. Called before the first one. */
    void onStarted(Consumer<Ingest> listener) {
        onStarted = listener;
    }

    /** Loads sources and returns when all are published; see {@link Daemon#load}. */
    Done load(LoadRequest request, ProgressListener listener) {
        LoadJob load = startLoad(request, Peer.thisProcess());
        load.listen(listener);
        try {
            CompletableFuture.anyOf(load.outcome(), shutdown.result()).get();
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

    /** Starts a load, or joins a running load with the same request. */
    synchronized LoadJob startLoad(LoadRequest request, Peer peer) {
        request.sources().forEach(source -> Names.requireDataset(source.name()));
        Optional<LoadJob> joined = loads.join(request);
        if (joined.isPresent()) {
            return joined.get();
        }
        LoadJob load = loads.start(request, peer);
        watch(load);
        return load;
    }

    /** Starts a build by a client, unless the dataset is already being loaded or built. */
    Optional<Upload> tryStartUpload(Request.Create request, Publisher publisher, BooleanSupplier hasClient) {
        Optional<Upload> upload = loads.tryStartUpload(request, publisher, hasClient);
        upload.ifPresent(this::watch);
        return upload;
    }

    /** Names the datasets that will be loaded one by one if a load of several fails; see {@link Daemon#loadedApart}. */
    void loadedApart(Set<String> datasets) {
        loadedApart = Set.copyOf(datasets);
    }

    boolean isLoadedApart(String dataset) {
        return loadedApart.contains(dataset);
    }

    /** Returns whether the datasets of this load are loaded one by one if it fails. */
    boolean isTriedAgain(Ingest load) {
        return load.datasets().size() > 1 && loadedApart.containsAll(load.datasets());
    }

    private void watch(Ingest ingest) {
        onStarted.accept(ingest);
        boolean isBuild = ingest instanceof Upload;
        long beginNs = System.nanoTime();
        if (FlightRecording.isOn()) {
            LoadEvent.record(ingest, isBuild); // not in the action below: its lambda would load the class of the event
        }
        counters.increment(Counter.LOADING);
        ingest.whenEnded((done, failure) -> {
            counters.add(Counter.LOADING, -1);
            if (failure == null) {
                counters.increment(isBuild ? Counter.BUILDS : Counter.LOADS);
            } else if (!isTriedAgain(ingest)) { // each dataset counts for itself
                counters.increment(isBuild ? Counter.BUILD_FAILURES : Counter.LOAD_FAILURES);
                // one entry for all failed builds, or a member could push all other errors out
                errors.recordUnlessCancelled(isBuild ? "" : String.join(", ", ingest.datasets()), failure);
            }
            LOG.info(
                    "{}: datasets={} ms={}{}",
                    failure == null ? "published" : "not published",
                    ingest.datasets(),
                    (System.nanoTime() - beginNs) / 1_000_000,
                    failure == null ? "" : " reason=" + failure.getMessage());
            maintenance.afterChange();
        });
    }

    /** Starts to load a dataset that is not resident if its source is known. Returns the running load, if any. */
    synchronized Optional<? extends Ingest> readThrough(String dataset, Peer peer) {
        Optional<Ingest> running = loads.find(dataset);
        Optional<Registration> known = running.isPresent() ? Optional.empty() : residency.registration(dataset);
        return known.isPresent() ? known.map(source -> startLoad(source.request(), peer)) : recheckAgain(dataset);
    }

    /**
     * Records the sources of datasets; the first request for one loads it. Reads the paths, which may hang; registers nothing if the client
     * has left meanwhile.
     */
    Done register(LoadRequest request, BooleanSupplier hasClient) {
        request.sources().forEach(source -> Names.requireDataset(source.name()));
        Map<String, List<String>> origins = new TreeMap<>();
        for (LoadRequest.Source source : request.sources()) {
            if (source.isRemote()) {
                requireRegistrable(source);
                origins.computeIfAbsent(source.name(), name -> new ArrayList<>())
                        .add(source.path());
                continue;
            }
            if (!Files.isReadable(source.file())) {
                throw Failure.of(ErrorCode.BAD_INPUT, "source does not exist or cannot be read")
                        .with("dataset", source.name())
                        .with("path", source.path())
                        .remedy("name a file or folder that the daemon can read");
            }
            ScannedSource.requireLikely(
                    source.name(),
                    source.file(),
                    SourceOptions.of(request.options()),
                    request.options().inPlace());
            origins.computeIfAbsent(source.name(), name -> new ArrayList<>()).add(source.path());
        }
        if (!hasClient.getAsBoolean()) {
            throw Failure.of(ErrorCode.INTERRUPTED, "the client left before its dataset was registered")
                    .with("datasets", origins.keySet())
                    .exception();
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

    /**
     * Records the source of a dataset after a failed load, if the dataset is not resident: a reload, or the first open, tries again. The
     * caller reports the failure.
     *
     * @return whether a reload can load it: an address with a secret is not recorded
     */
    boolean postpone(LoadRequest request) {
        String dataset = request.sources().get(0).name();
        List<String> paths =
                request.sources().stream().map(LoadRequest.Source::path).toList();
        boolean isResident = residency.find(dataset).isPresent()
                || residency.unverified().find(dataset).isPresent();
        boolean hasSecret = request.sources().stream()
                .anyMatch(source -> !source.visiblePath().equals(source.path()));
        if (isResident || hasSecret) {
            return isResident;
        }
        try {
            long ttlMs = request.retention().ttl().toMillis();
            residency.register(Registration.ofLost(
                    dataset,
                    0,
                    new Provenance(paths, request.options(), List.of(), ttlMs),
                    request.retention().pinned()));
            return true;
        } catch (LarderException e) {
            errors.report("cannot record the source of a dataset: dataset=" + dataset, e);
            return false;
        }
    }

    private static void requireRegistrable(LoadRequest.Source source) {
        StagedSources.requireReadable(source);
        if (!source.visiblePath().equals(source.path())) {
            throw Failure.of(ErrorCode.BAD_INPUT, "an address with a password or a signature cannot be registered")
                    .with("dataset", source.name())
                    .with("path", source.visiblePath())
                    .remedy("secrets are not stored: give credentials to the daemon, or load it");
        }
    }

    /** Starts to load a dataset again, with its former sources and options. */
    LoadJob startReload(String dataset, Peer peer) {
        Optional<Registration> known = residency.registration(dataset);
        if (known.isPresent()) {
            return startLoad(known.get().request(), peer);
        }
        PublishedVersion version = residency.require(dataset);
        if (!version.isSourced()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "dataset was computed, so there is nothing to load it from")
                    .with("dataset", dataset)
                    .remedy("compute it again");
        }
        LoadRequest again = Registration.of(version).request();
        return startLoad(
                new LoadRequest(again.sources(), again.options().withEvenIfUnchanged(true), 0)
                        .withRetention(again.retention()),
                peer);
    }

    /** Starts the recovery in the background. */
    void recover() {
        rechecks.forEach(this::follow);
        loads.start(rechecks);
        reloadPinned();
    }

    /** Compares checksums again after a failure that may have been temporary. */
    private Optional<Ingest> recheckAgain(String dataset) {
        loads.recheck(residency.unverified().find(dataset).stream().toList()).forEach(this::follow);
        return loads.find(dataset);
    }

    private void follow(Recheck recheck) {
        recheck.whenEnded((done, failure) -> {
            if (failure != null && !shutdown.isStopping()) {
                errors.report("data of an earlier daemon is damaged or cannot be verified", failure);
                reloadPinned();
            }
            maintenance.afterChange();
        });
    }

    private void reloadPinned() {
        for (Registration lost : residency.registrations()) {
            if (lost.pinned() && loads.find(lost.dataset()).isEmpty()) {
                try {
                    startLoad(lost.request(), Peer.thisProcess()).whenEnded((done, failure) -> reportReload(failure));
                } catch (LarderException e) {
                    reportReload(e);
                }
            }
        }
    }

    private void reportReload(@Nullable Throwable failure) {
        if (failure != null && !shutdown.isStopping()) {
            errors.report("a pinned dataset was lost and cannot be loaded again", failure);
        }
    }
}
