package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.layout.ColumnPart;
import dev.larder.protocol.Build;
import dev.larder.protocol.Done;
import dev.larder.protocol.LoadOptions;
import dev.larder.protocol.Progress.Phase;
import dev.larder.protocol.ProgressListener;
import dev.larder.protocol.Retention;
import dev.larder.server.residency.Residency;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.Source;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.Provenance;
import dev.larder.server.store.PublishedVersion;
import dev.larder.server.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A dataset that a client builds: it writes {@code .npy} files into a folder of the store's incoming work, then asks to have
 * them published. Its data has no source to come back from.
 *
 * <p>Nobody who wrote can write on: large files whose data is aligned are moved out of the client's sight, proved to have no
 * writer left, and read for their checksum; all others are copied while their checksum is computed.
 */
public final class Upload implements Ingest {
    private enum State {
        BUILDING,
        PUBLISHING,
        ENDED
    }

    private final long token;
    private final String dataset;
    private final int workers;
    private final Store store;
    private final Residency residency;
    private final long reservedBytes;
    private final Retention retention;
    private final IncomingVersion folder;
    private final Runnable beforeOutcome;
    private final LoadProgress progress;
    private final AtomicReference<State> state = new AtomicReference<>(State.BUILDING);
    private final CompletableFuture<Done> outcome = new CompletableFuture<>();
    private volatile List<SourceArray> arrays = List.of();
    private volatile @Nullable IncomingVersion publishing;
    private volatile boolean cancelled;

    /** What an upload is made of. */
    record Terms(long token, String dataset, int workers, long bytes, Retention retention) {}

    /** Sets the space aside that the client asked for, and makes the folder. */
    Upload(Terms terms, Store store, Residency residency, Runnable beforeOutcome) {
        this.token = terms.token;
        this.dataset = terms.dataset;
        this.workers = terms.workers;
        this.reservedBytes = terms.bytes;
        this.retention = terms.retention;
        this.store = store;
        this.residency = residency;
        this.beforeOutcome = beforeOutcome;
        this.progress = new LoadProgress(dataset);
        residency.reserve(reservedBytes);
        try {
            this.folder = store.newIncoming(dataset, provenance());
        } catch (RuntimeException | Error e) {
            store.releaseSpace(reservedBytes);
            throw e;
        }
        progress.enter(Phase.WAITING);
    }

    private Provenance provenance() {
        return Provenance.computed(retention.ttl().toMillis());
    }

    /** Returns what the client is told. */
    public Build build() {
        return new Build(token, folder.folder().toString());
    }

    @Override
    public Set<String> datasets() {
        return Set.of(dataset);
    }

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

    /** Gives the build up; one that is being published already ends as soon as it can. */
    @Override
    public void cancel() {
        cancelled = true;
        IncomingVersion version = publishing;
        if (version != null) {
            version.cancel();
        }
        if (state.compareAndSet(State.BUILDING, State.ENDED)) {
            // Unlinking takes time, and whoever cancels may be the control thread.
            Thread thread = new Thread(() -> end(null, given(new CancellationException())), "larder-discard");
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Publishes what the client wrote, on threads of its own, and completes {@link #outcome}. */
    public void startPublishing(Map<String, ColumnPart> parts) {
        Thread thread = new Thread(() -> publish(parts), "larder-publish");
        thread.setDaemon(true);
        thread.start();
    }

    private void publish(Map<String, ColumnPart> parts) {
        if (!state.compareAndSet(State.BUILDING, State.PUBLISHING)) {
            return; // it was given up, or is being published: the outcome tells
        }
        try {
            end(publishAll(parts), null);
        } catch (RuntimeException | Error e) {
            end(null, cancelled ? given(e) : e);
        }
    }

    private RuntimeException given(Throwable cause) {
        return Failure.of(ErrorCode.INTERRUPTED, "build was given up")
                .with("dataset", dataset)
                .cause(cause)
                .remedy("the next who asks for it builds it");
    }

    private void end(@Nullable Done done, @Nullable Throwable failure) {
        Throwable reason = failure;
        state.set(State.ENDED);
        try {
            folder.close();
        } catch (RuntimeException e) {
            reason = reason == null ? e : reason;
        }
        store.releaseSpace(reservedBytes);
        beforeOutcome.run();
        if (done != null) {
            outcome.complete(done);
        } else if (reason != null) {
            outcome.completeExceptionally(reason);
        }
    }

    private Done publishAll(Map<String, ColumnPart> parts) {
        progress.enter(Phase.SCANNING);
        arrays = found(parts);
        PackRule packs = PackRule.of(LoadOptions.none(), store.hugePages());
        Predicate<SourceArray> isMoved =
                packs.packed(arrays).negate().and(array -> StoredAsIs.fits(array, folder.folder()));
        List<SourceArray> moved = arrays.stream().filter(isMoved).toList();
        LoadPlan plan = LoadPlan.of(arrays.stream().filter(isMoved.negate()).toList(), packs);
        long bytes = arrays.stream().mapToLong(SourceArray::byteSize).sum();
        long stored = plan.storedBytes()
                + moved.stream()
                        .mapToLong(array -> Store.storedBytes(array.byteSize()))
                        .sum();
        long more = Math.max(0, stored + plan.storedBytes() - reservedBytes); // what is copied lies there twice
        residency.reserve(more);
        progress.begin(Phase.LOADING, bytes, arrays.size());
        try (IncomingVersion version = store.newIncoming(dataset, provenance())) {
            publishing = version;
            if (cancelled) {
                version.cancel();
            }
            try (Copying copying = new Copying(workers, progress)) {
                copying.add(version, plan);
                copying.start();
                moved.forEach(array -> StoredAsIs.move(array, version, progress));
                copying.await();
            }
            if (cancelled) {
                throw new CancellationException("cancelled before publishing");
            }
            progress.enter(Phase.PUBLISHING);
            if (retention.pinned()) {
                version.pin();
            }
            PublishedVersion published = residency.publish(List.of(version)).get(0);
            return Done.of(arrays.size(), bytes, "version " + published.version());
        } finally {
            store.releaseSpace(more);
        }
    }

    private List<SourceArray> found(Map<String, ColumnPart> parts) {
        List<SourceArray> found = new ArrayList<>();
        ScanSettings scanning = new ScanSettings(workers, true, () -> cancelled, checked -> {});
        for (SourceArray array : Source.scan(dataset, folder.folder(), SourceOptions.none(), scanning)
                .arrays()) {
            ColumnPart part = parts.getOrDefault(array.name().array(), ColumnPart.NONE);
            found.add(new SourceArray(array.name(), array.header(), array.data(), array.files(), part));
        }
        Set<String> names = found.stream().map(array -> array.name().array()).collect(Collectors.toSet());
        for (String named : parts.keySet()) {
            if (!names.contains(named)) {
                throw Failure.of(ErrorCode.BAD_INPUT, "a part of a column was not written")
                        .with("dataset", dataset)
                        .with("array", named)
                        .remedy("write every part before publishing");
            }
        }
        return found;
    }
}
