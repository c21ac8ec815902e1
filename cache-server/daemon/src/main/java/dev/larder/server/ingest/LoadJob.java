package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Progress.Phase;
import dev.larder.server.remote.StagedSources;
import dev.larder.server.residency.Residency;
import dev.larder.server.source.Parallel;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.ScratchFolders;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.SourceSamples;
import dev.larder.server.source.scan.ScannedSource;
import dev.larder.server.source.shard.ShardCut;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.Store;
import dev.larder.server.store.space.Occupied;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.space.ScratchMemory;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.SourceRecord;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A load: scans every source, skips datasets that are already resident, reserves space for the others, copies them with several threads and
 * publishes. All datasets of a request become visible, or none. After a failure, everything written is removed.
 */
public final class LoadJob extends Ingest {
    private final LoadRequest request;
    private final int workers;
    private final Store store;
    private final Residency residency;
    private final List<IncomingVersion> incoming = new ArrayList<>();
    private final Reuse reuse;
    private final List<String> notes = new ArrayList<>();
    private final AtomicInteger clients = new AtomicInteger(1);
    private final List<SourceArray> found = new ArrayList<>();
    private final Map<String, String> looks = new HashMap<>();
    private final List<Recheck> rechecks = new ArrayList<>();
    private @Nullable StagedSources staged;
    private boolean checksLater;
    private volatile List<SourceArray> arrays = List.of();
    private volatile boolean cancelled;
    private volatile Runnable onCancel = () -> {};

    /** A candidate and the version that is written for it. */
    private record Loading(Candidate candidate, IncomingVersion version) {}

    LoadJob(LoadRequest request, int workers, Store store, Residency residency) {
        super(request.sources().stream().map(LoadRequest.Source::name).collect(Collectors.toCollection(TreeSet::new)));
        this.request = request;
        this.workers = workers;
        this.store = store;
        this.residency = residency;
        this.reuse = new Reuse(
                store,
                residency,
                new LoadRequest(request.sources(), request.options(), workers),
                progress,
                () -> !cancelled);
    }

    /** Empty until the sources have been scanned. */
    @Override
    public List<SourceArray> arrays() {
        return arrays;
    }

    /** Returns whether this load has the same sources, options and retention as a request. */
    boolean isFor(LoadRequest other) {
        return request.sources().equals(other.sources())
                && request.options().equals(other.options())
                && request.retention().equals(other.retention());
    }

    /** Adds a client that waits for the outcome. Returns false if this is being cancelled because its last client has left. */
    boolean join() {
        return clients.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0;
    }

    /** Returns whether this is ending early; true from the moment that {@link #join} fails, although {@link #cancel} comes after it. */
    boolean isCancelled() {
        return cancelled || clients.get() == 0;
    }

    /** Removes a client. Cancels the load if it was the last one. */
    public void leave() {
        if (clients.decrementAndGet() == 0) {
            cancel();
        }
    }

    /** Makes this load wait for a check of the same dataset: the checked version may make the load unnecessary. */
    void startAfter(Recheck recheck) {
        rechecks.add(recheck);
    }

    private void awaitRechecks() {
        for (Recheck recheck : rechecks) {
            Runnable noProgress = recheck.listen(progress::forward);
            recheck.startNow();
            recheck.outcome().handle((done, failure) -> done).join();
            noProgress.run();
        }
    }

    /** Sets an action for the cancellation. Called before a cancellation is possible. */
    void onCancel(Runnable action) {
        onCancel = action;
    }

    @Override
    public void cancel() {
        cancelled = true;
        synchronized (incoming) {
            incoming.forEach(IncomingVersion::cancel);
        }
        onCancel.run();
    }

    /**
     * Does the work, on the calling thread and on workers, and completes {@link #outcome}. Throws nothing.
     *
     * @param beforeOutcome runs after the work and before clients get the outcome
     */
    void run(Runnable beforeOutcome) {
        try {
            if (cancelled) {
                throw new CancellationException("cancelled before it began");
            }
            awaitRechecks();
            Done done = loadAndRelease();
            beforeOutcome.run();
            ending.outcome().complete(done);
        } catch (IOException | RuntimeException | Error e) {
            beforeOutcome.run();
            ending.outcome().completeExceptionally(explained(e));
        }
    }

    private LarderException explained(Throwable thrown) {
        LarderException failure = worded(thrown);
        return staged == null ? failure : staged.explained(failure);
    }

    private LarderException worded(Throwable thrown) {
        Throwable failure = HeapShortage.explained(thrown);
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

    private Done loadAndRelease() throws IOException {
        List<Candidate> loaded;
        try (Reservation reservation = residency.reserve(0, () -> !cancelled);
                ScratchMemory scratch = store.newScratch(reservation)) {
            try {
                loaded = loadAll(reservation, scratch);
            } catch (LarderException e) {
                throw InPlace.withAdvice(e, request, found, store.layout().root());
            } finally {
                found.forEach(SourceArray::release);
                if (staged != null) {
                    staged.close();
                }
            }
        }
        residency.removeReplaced(); // after the reservation has been released, because removal takes time
        datasets().forEach(dataset -> residency.retain(dataset, request.retention()));
        long files = SourceArray.fileCount(loaded.stream()
                .flatMap(candidate -> candidate.arrays().stream())
                .toList());
        long bytes = loaded.stream().mapToLong(Candidate::dataBytes).sum();
        return Done.of(files, bytes, String.join("\n", notes));
    }

    /** Returns the datasets that have a new version. */
    private List<Candidate> loadAll(Reservation reservation, ScratchMemory scratch) throws IOException {
        List<Candidate> changed = new ArrayList<>();
        for (Candidate candidate : scan(scratch)) {
            Optional<String> unchanged = reuse.unchanged(candidate);
            unchanged.ifPresentOrElse(
                    note -> {
                        notes.add(note);
                        candidate.arrays().forEach(SourceArray::release);
                    },
                    () -> changed.add(candidate));
        }
        arrays = changed.stream()
                .flatMap(candidate -> candidate.arrays().stream())
                .toList();
        return changed.isEmpty() ? List.of() : loadSound(changed, reservation, scratch);
    }

    /** Lists and fetches the sources, then finds all arrays before any is read. */
    private List<Candidate> scan(ScratchMemory scratch) throws IOException {
        progress.enter(Phase.SCANNING);
        InPlace.requireLocal(request);
        long foundEpochNanos = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
        LoadOptions options = request.options();
        checksLater = options.as() == LoadOptions.As.IMAGES
                && !options.inPlace()
                && request.sources().stream().noneMatch(LoadRequest.Source::isRemote);
        SourceSamples samples = new SourceSamples();
        ScanSettings scanning = scratchScan(workers, () -> cancelled, progress::addFiles, scratch)
                .withSamples(samples);
        StagedSources sources = StagedSources.list(
                request.sources(),
                SourceOptions.of(options),
                checksLater ? scanning.withChecksLater() : scanning,
                options.shard());
        staged = sources;
        Set<String> changed = datasetsToScan(sources);
        sources.fetch(
                changed::contains, (bytes, files) -> progress.begin(Phase.LOADING, bytes, files), progress::addBytes);
        progress.begin(Phase.SCANNING, Progress.UNKNOWN, Progress.UNKNOWN);
        ShardCut shards = new ShardCut(options.shard(), scanning.memory());
        findArrays(sources, changed, shards);
        Candidate.sample(found, samples, workers);
        List<Candidate> candidates = new ArrayList<>();
        for (String dataset : changed) {
            List<SourceArray> own = found.stream()
                    .filter(array -> array.name().dataset().equals(dataset))
                    .toList();
            List<SourceRecord> records = Candidate.records(own, samples, foundEpochNanos, options.inPlace()).stream()
                    .map(record -> sources.noted(record, dataset))
                    .sorted(Comparator.comparing(SourceRecord::array))
                    .toList();
            candidates.add(new Candidate(
                    dataset,
                    own,
                    new Provenance(origins(dataset), options.withEvenIfUnchanged(false), records, ttlMs(dataset))
                            .withShard(shards.record(own))
                            .withLook(look(dataset))));
        }
        return candidates;
    }

    /** Returns the datasets to scan: all but the unchanged ones. */
    private Set<String> datasetsToScan(StagedSources sources) {
        Set<String> changed = new TreeSet<>(datasets());
        for (String dataset : datasets()) {
            List<String> origins = origins(dataset);
            reuse.unchanged(dataset, origins, sources.look(dataset))
                    .or(() -> reuse.unchangedHere(dataset, origins, () -> sources.lookHere(dataset)))
                    .ifPresent(note -> {
                        notes.add(note);
                        changed.remove(dataset);
                    });
        }
        return changed;
    }

    private void findArrays(StagedSources sources, Set<String> datasets, ShardCut shards) {
        long hidden = 0;
        List<ScannedSource> scannedSources = sources.scan(datasets::contains);
        try {
            for (ScannedSource scanned : scannedSources) {
                found.addAll(sources.movable(shards.cut(scanned.arrays())));
                hidden += scanned.hiddenFiles();
                looks.merge(
                        scanned.name(), scanned.look(), (one, two) -> one.isEmpty() || two.isEmpty() ? "" : one + two);
            }
        } catch (RuntimeException | Error e) {
            scannedSources.forEach(scanned -> scanned.arrays().forEach(SourceArray::release));
            throw e;
        }
        notes.addAll(ScannedSource.notes(scannedSources));
        if (hidden > 0) {
            notes.add("skipped " + hidden + (hidden == 1 ? " hidden file or folder" : " hidden files and folders"));
        }
        requireDistinctNames(found);
    }

    /** Returns the look of the sources of a scanned dataset; empty if it is not known, or if they are not all on this machine. */
    private String look(String dataset) {
        boolean isHere = request.sources().stream()
                .filter(source -> source.name().equals(dataset))
                .noneMatch(LoadRequest.Source::isRemote);
        return isHere ? looks.getOrDefault(dataset, "") : "";
    }

    /** Returns the time to live of a dataset: the requested one, otherwise that of the resident version, in milliseconds. */
    private long ttlMs(String dataset) {
        long requestedMs = request.retention().ttl().toMillis();
        return requestedMs > 0
                ? requestedMs
                : residency
                        .find(dataset)
                        .map(version -> version.provenance().ttlMs())
                        .orElse(0L);
    }

    /** Loads candidates. If a file turns out to be bad during the copy, the failure names all bad files. */
    private List<Candidate> loadSound(List<Candidate> changed, Reservation reservation, ScratchMemory scratch)
            throws IOException {
        try {
            return load(changed, reservation, scratch);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.BAD_INPUT) {
                requireSound();
            }
            throw e;
        }
    }

    /** Makes the checks that the scan has deferred, and fails with the names of all bad files. */
    private void requireSound() {
        if (!checksLater) {
            return;
        }
        progress.begin(Phase.SCANNING, Progress.UNKNOWN, Progress.UNKNOWN);
        ScanSettings thorough = new ScanSettings(workers, false, () -> cancelled, progress::addFiles);
        ScannedSource.scanAll(request.sources(), SourceOptions.of(request.options()), thorough)
                .forEach(source -> source.arrays().forEach(SourceArray::release));
    }

    /** Writes and publishes candidates. Returns those that were published, without the ones found to be resident. */
    private List<Candidate> load(List<Candidate> changed, Reservation reservation, ScratchMemory scratch)
            throws IOException {
        if (request.options().inPlace()) {
            return loadInPlace(changed);
        }
        PackRule packs = PackRule.of(request.options(), store.hugePages());
        List<LoadPlan> plans = changed.stream()
                .map(candidate -> LoadPlan.of(candidate.arrays(), packs))
                .toList();
        long stored = ByteSums.add(
                store.manifestBytes(plans.size()), ByteSums.sum(plans.stream().mapToLong(LoadPlan::storedBytes)));
        reservation.allowFor(plans.size(), arrays.size());
        long needed = ByteSums.add(stored, scratch.elsewhereBytes());
        if (store.missingBytes(reservation, Math.max(0, needed - reservation.bytes()), residency::usedBytes) > 0) {
            requireSound(); // before other data is evicted for it
        }
        reservation.growTo(needed);
        reservation.evictionNote().ifPresent(notes::add);
        return load(changed, plans, packs, reservation);
    }

    private List<Candidate> load(List<Candidate> changed, List<LoadPlan> plans, PackRule packs, Reservation reservation)
            throws IOException {
        long bytes = ByteSums.sum(changed.stream().mapToLong(Candidate::dataBytes));
        progress.begin(Phase.LOADING, ByteSums.add(bytes, TransferPlan.byteSize(arrays)), arrays.size());
        List<Loading> versions = new ArrayList<>();
        List<TransferPlan> transfers = new ArrayList<>();
        try {
            for (int i = 0; i < plans.size(); i++) {
                transfers.add(TransferPlan.of(changed.get(i).arrays(), plans.get(i), packs, reservation, progress));
            }
            try (Copier copier = new Copier(workers, progress)) {
                for (int i = 0; i < plans.size(); i++) {
                    versions.add(open(changed.get(i)));
                    IncomingVersion version = versions.get(i).version;
                    reservation.writesTo(version.folder());
                    copier.add(version, transfers.get(i).moveTo(version, packs, reservation, progress));
                }
                copier.start();
                copier.await();
            }
            return publishAll(versions, reservation);
        } finally {
            versions.forEach(loading -> loading.version.close());
        }
    }

    private List<Candidate> loadInPlace(List<Candidate> changed) {
        InPlace.requireMappable(arrays, store.layout().root());
        progress.begin(Phase.LOADING, ByteSums.sum(changed.stream().mapToLong(Candidate::dataBytes)), arrays.size());
        Checksums checksums = new Checksums(progress::addBytes, () -> !cancelled);
        List<Loading> versions = new ArrayList<>();
        try (Reservation manifests = residency.reserve(store.manifestBytes(changed.size()), () -> !cancelled)) {
            for (Candidate candidate : changed) {
                Loading loading = open(candidate);
                versions.add(loading);
                Parallel.forEach(candidate.arrays(), workers, array -> {
                    InPlace.add(array, loading.version, checksums);
                    progress.addFile();
                });
            }
            return publishAll(versions, manifests);
        } finally {
            versions.forEach(loading -> loading.version.close());
        }
    }

    /** Returns settings for a scan that stores intermediate data in scratch memory. */
    static ScanSettings scratchScan(
            int workers, BooleanSupplier isCancelled, IntConsumer onChecked, ScratchMemory scratch) {
        return new ScanSettings(workers, false, isCancelled, onChecked, scratch, foldersOf(scratch), false, null);
    }

    private static ScratchFolders foldersOf(ScratchMemory scratch) {
        return new ScratchFolders() {
            @Override
            public Path newFolder() throws IOException {
                return scratch.newFolder();
            }

            @Override
            public void setAside(long byteSize) {
                scratch.addElsewhere(byteSize);
            }

            @Override
            public long occupiedBytes(Path folder) {
                return Occupied.bytes(folder);
            }
        };
    }

    private static void requireDistinctNames(List<SourceArray> arrays) {
        Set<String> names = new HashSet<>();
        for (SourceArray array : arrays) {
            if (!names.add(array.name().toString())) {
                throw Failure.of(ErrorCode.BAD_INPUT, "two sources have the same name")
                        .with("array", array.name())
                        .with("file", array.file())
                        .remedy("load them under different names");
            }
        }
    }

    private List<String> origins(String dataset) {
        return request.sources().stream()
                .filter(source -> source.name().equals(dataset))
                .map(LoadRequest.Source::visiblePath)
                .toList();
    }

    private Loading open(Candidate candidate) {
        IncomingVersion version = store.newIncoming(candidate.dataset(), candidate.provenance());
        if (request.retention().pinned()) {
            version.pin();
        }
        synchronized (incoming) {
            incoming.add(version);
            if (cancelled) {
                version.cancel();
            }
        }
        return new Loading(candidate, version);
    }

    private List<Candidate> publishAll(List<Loading> versions, Reservation reservation) {
        if (cancelled) {
            throw new CancellationException("cancelled before publishing");
        }
        progress.enter(Phase.PUBLISHING);
        List<Loading> changed = new ArrayList<>();
        for (Loading loading : versions) {
            Optional<String> unchanged = reuse.unchanged(loading.candidate, loading.version.digest());
            unchanged.ifPresentOrElse(notes::add, () -> changed.add(loading));
            residency
                    .lastKnown(loading.candidate.dataset(), loading.version.digest())
                    .ifPresent(known -> loading.version.provenance(
                            loading.version.provenance().withWholeOf(known)));
        }
        Map<String, PublishedVersion> previous = new HashMap<>();
        datasets().forEach(dataset -> residency.find(dataset).ifPresent(version -> previous.put(dataset, version)));
        for (PublishedVersion version :
                residency.publish(changed.stream().map(Loading::version).toList(), reservation)) {
            PublishedVersion replaced = previous.get(version.dataset());
            if (replaced != null) {
                notes.add(replacementNote(replaced, version));
            }
        }
        return changed.stream().map(Loading::candidate).toList();
    }

    private static String replacementNote(PublishedVersion replaced, PublishedVersion version) {
        boolean isFromElsewhere = replaced.isSourced() && !replaced.origins().equals(version.origins());
        String change = isFromElsewhere ? " has another source" : " has changed";
        return version.dataset()
                + (replaced.digest().equals(version.digest()) ? " was loaded again" : change)
                + ": version=" + version.version() + " replaces=" + replaced.version()
                + (isFromElsewhere ? " source=" + shown(version) + " before=" + shown(replaced) : "")
                + "; readers of the old one keep it";
    }

    private static String shown(PublishedVersion version) {
        return version.origins().stream()
                .map(path -> new LoadRequest.Source(version.dataset(), path).visiblePath())
                .collect(Collectors.joining(","));
    }
}
