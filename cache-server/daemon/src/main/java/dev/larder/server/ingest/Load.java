package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.protocol.Done;
import dev.larder.protocol.LoadRequest;
import dev.larder.protocol.Progress.Phase;
import dev.larder.protocol.ProgressListener;
import dev.larder.server.residency.Residency;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.Source;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.Store;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * One load: scans every source, reserves space for all of it, copies with several threads and publishes. All datasets of a
 * request become visible, or none; whatever was written before a failure is removed.
 */
public final class Load implements Ingest {
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

    @Override
    public Set<String> datasets() {
        return request.sources().stream().map(LoadRequest.Source::name).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Empty until the sources have been scanned. */
    @Override
    public List<SourceArray> arrays() {
        return arrays;
    }

    @Override
    public CompletableFuture<Done> outcome() {
        return outcome;
    }

    @Override
    public Runnable listen(ProgressListener listener) {
        return progress.listen(listener);
    }

    @Override
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
            Done done = loadAndRelease();
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

    private Done loadAndRelease() throws IOException {
        try {
            return loadAll();
        } finally {
            arrays.forEach(SourceArray::release);
        }
    }

    private Done loadAll() throws IOException {
        progress.enter(Phase.SCANNING);
        SourceOptions options = SourceOptions.of(request.options());
        List<SourceArray> found = new ArrayList<>();
        long skipped = 0;
        long hidden = 0;
        ScanSettings scanning = new ScanSettings(workers, false, () -> cancelled, checked -> {});
        for (Source scanned : Source.scanAll(request.sources(), options, scanning)) {
            found.addAll(scanned.arrays());
            skipped += scanned.skippedFiles();
            hidden += scanned.hiddenFiles();
        }
        arrays = List.copyOf(found); // to be released, whatever comes next
        requireDistinctNames(found);
        long bytes =
                found.stream().mapToLong(array -> array.header().byteSize()).sum();
        Map<String, LoadPlan> plans = new LinkedHashMap<>();
        PackRule packs = PackRule.of(request.options(), store.hugePages());
        datasets().forEach(dataset -> plans.put(dataset, LoadPlan.of(arraysOf(dataset), packs)));
        long stored = plans.values().stream().mapToLong(LoadPlan::storedBytes).sum();
        store.reserveSpace(stored, residency.usedBytes(), residency.leasedBytes());
        progress.expect(bytes, found.size());
        progress.enter(Phase.LOADING);
        List<IncomingVersion> versions = new ArrayList<>();
        try {
            try (Copying copying = new Copying(workers, progress)) {
                plans.forEach((dataset, plan) -> {
                    IncomingVersion version = open(dataset);
                    versions.add(version);
                    copying.add(version, plan);
                });
                copying.start();
                copying.await();
            }
            publishAll(versions);
        } finally {
            try {
                versions.forEach(IncomingVersion::close);
            } finally {
                store.releaseSpace(stored);
            }
        }
        return Done.of(found.size(), bytes, note(skipped, hidden));
    }

    private static String note(long skipped, long hidden) {
        List<String> notes = new ArrayList<>();
        if (skipped > 0) {
            notes.add("skipped " + skipped + " files of no known kind");
        }
        if (hidden > 0) {
            notes.add("skipped " + hidden + " hidden files and folders");
        }
        return String.join("; ", notes);
    }

    private static void requireDistinctNames(List<SourceArray> arrays) {
        Set<String> names = new HashSet<>();
        for (SourceArray array : arrays) {
            if (!names.add(array.name().toString())) {
                throw Failure.of(ErrorCode.BAD_INPUT, "two sources of one name")
                        .with("array", array.name())
                        .with("file", array.file())
                        .remedy("load them under different names");
            }
        }
    }

    private List<SourceArray> arraysOf(String dataset) {
        return arrays.stream()
                .filter(array -> array.name().dataset().equals(dataset))
                .toList();
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

    private void publishAll(List<IncomingVersion> versions) {
        if (cancelled) {
            throw new CancellationException("cancelled before publishing");
        }
        progress.enter(Phase.PUBLISHING);
        residency.publish(versions);
    }
}
