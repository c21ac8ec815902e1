package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.internal.protocol.Build;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.Progress.Phase;
import dev.larder.internal.protocol.Request.NewFile;
import dev.larder.internal.protocol.Request.PartOfColumn;
import dev.larder.internal.protocol.Retention;
import dev.larder.server.residency.Residency;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.scan.ScannedSource;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.Store;
import dev.larder.server.store.space.Reservation;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Publisher;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A dataset that a client builds: it writes {@code .npy} files into a folder in {@code incoming}, and then asks the daemon to publish them.
 * Its data has no source.
 *
 * <p>After the publication no process can write to the data: large aligned files are moved out of the client's sight, checked for open
 * writers, and read for their checksum. All other files, and those with open writers, are copied. Files of a member of the group are
 * created by the daemon; see {@link MemberFiles}.
 */
public final class Upload extends Ingest {
    /** For one dataset; more than its index can have in this heap. */
    private static final int MOST_PARTS = 1_000_000;

    private static final Logger LOG = LoggerFactory.getLogger(Upload.class);

    private enum State {
        STARTING,
        BUILDING,
        PUBLISHING,
        ENDED
    }

    private final String dataset;
    private final int workers;
    private final Store store;
    private final Residency residency;
    private final GroupQuota quota;
    private final Publisher publisher;
    private final long reservedBytes;
    private final Retention retention;
    private final Executor discards;
    private final Runnable beforeOutcome;
    private final AtomicReference<State> state = new AtomicReference<>(State.STARTING);
    private volatile @Nullable Place place;
    private final Map<String, ColumnPart> parts = new ConcurrentHashMap<>();
    private volatile List<SourceArray> arrays = List.of();
    private volatile @Nullable IncomingVersion publishing;
    private volatile boolean cancelled;

    /** The request for an upload. */
    record Terms(String dataset, int workers, long bytes, Retention retention, Publisher publisher) {}

    /** The folder of the client, and its files if it is a member of the group. */
    private record Place(
            IncomingVersion version,
            Reservation reservation,
            @Nullable MemberFiles memberFiles) {
        void close() {
            try {
                if (memberFiles != null) {
                    memberFiles.close();
                }
            } finally {
                try {
                    version.close();
                } finally {
                    reservation.close();
                }
            }
        }
    }

    /** Takes no space yet; see {@link #begin}. */
    Upload(Terms terms, Store store, Residency residency, GroupQuota quota, Executor discards, Runnable beforeOutcome) {
        super(Set.of(terms.dataset));
        this.dataset = terms.dataset;
        this.workers = terms.workers;
        this.publisher = terms.publisher;
        this.reservedBytes = terms.bytes;
        this.retention = terms.retention;
        this.store = store;
        this.residency = residency;
        this.quota = quota;
        this.discards = discards;
        this.beforeOutcome = beforeOutcome;
        progress.enter(Phase.WAITING);
    }

    /**
     * Reserves the requested space, which may take a while, and creates the folder. A failure ends the build, and is thrown.
     *
     * @param hasClient returns whether the client still waits
     */
    void begin(BooleanSupplier hasClient) {
        try {
            BooleanSupplier mayContinue =
                    () -> !cancelled && (state.get() != State.STARTING || hasClient.getAsBoolean());
            place = publisher.isMember() ? placeOfMember(mayContinue) : place(mayContinue);
        } catch (CancellationException e) {
            RuntimeException reason = abandoned(e);
            end(null, reason);
            throw reason;
        } catch (RuntimeException | Error e) {
            end(null, e);
            throw e;
        }
        state.set(State.BUILDING);
        if (cancelled) { // cancelled before there was anything to end
            cancel();
        }
    }

    /** Checks the quota first: a refused upload evicts nothing. */
    private Place placeOfMember(BooleanSupplier mayContinue) {
        quota.reserve(reservedBytes);
        try {
            Place common = place(mayContinue);
            return new Place(
                    common.version, common.reservation, new MemberFiles(common.version, quota, common.reservation));
        } catch (RuntimeException | Error e) {
            quota.release(reservedBytes);
            throw e;
        }
    }

    private Place place(BooleanSupplier mayContinue) {
        Reservation reservation = residency.reserve(reservedBytes, mayContinue);
        try {
            IncomingVersion version = publisher.isMember()
                    ? store.newUpload(dataset, provenance(publisher))
                    : store.newIncoming(dataset, provenance(publisher));
            reservation.writesTo(version.folder());
            return new Place(version, reservation, null);
        } catch (RuntimeException | Error e) {
            reservation.close();
            throw e;
        }
    }

    private IncomingVersion folder() {
        return Objects.requireNonNull(place, "the build has not begun").version;
    }

    private Reservation reservation() {
        return Objects.requireNonNull(place, "the build has not begun").reservation;
    }

    private @Nullable MemberFiles memberFiles() {
        return Objects.requireNonNull(place, "the build has not begun").memberFiles;
    }

    /** Returns whether the build is published or given up. */
    public boolean hasEnded() {
        return state.get() == State.ENDED;
    }

    /** Fails with the reason if the build has been given up. */
    public void requireOpen() {
        try {
            ending.outcome().getNow(Done.NOTHING);
        } catch (CompletionException e) {
            throw e.getCause() instanceof LarderException reason ? reason : abandoned(e);
        }
    }

    /** Records that arrays are parts of columns. A member must have announced them. */
    public void addParts(List<PartOfColumn> more) {
        MemberFiles memberFiles = memberFiles();
        for (PartOfColumn part : more) {
            boolean isRefused = memberFiles == null
                    ? parts.size() >= MOST_PARTS && !parts.containsKey(part.array())
                    : !memberFiles.has(part.array());
            if (isRefused) {
                throw Failure.of(ErrorCode.BAD_INPUT, "no array of the build can have this part")
                        .with("dataset", dataset)
                        .with("array", Names.printable(part.array()))
                        .with("parts", parts.size())
                        .remedy("announce the array before its part, and build several datasets if it has more than "
                                + MOST_PARTS);
            }
            parts.put(part.array(), part.part());
        }
    }

    /** Creates files for a member of the group. Refuses other clients, which create them themselves. */
    public void createFiles(List<NewFile> files) {
        MemberFiles memberFiles = memberFiles();
        if (memberFiles == null) {
            throw Failure.of(ErrorCode.BAD_INPUT, "files are created only for members of the group")
                    .with("dataset", dataset)
                    .remedy("write them into the folder");
        }
        memberFiles.create(files);
    }

    /**
     * Reserves space for data that the client is about to write, and evicts to make room. For a member, space is reserved with its files.
     *
     * @param bytes the total
     */
    public void reserve(long bytes) {
        if (memberFiles() == null) {
            growTo(bytes);
        }
    }

    /** One call at a time, or two calls would both add the missing bytes. */
    private void growTo(long bytes) {
        Reservation reservation = reservation();
        synchronized (reservation) {
            reservation.growTo(bytes);
        }
    }

    /** Gives the build up if a member has written more than it announced. */
    public void requireAnnounced() {
        MemberFiles memberFiles = state.get() == State.BUILDING ? memberFiles() : null;
        if (memberFiles != null) {
            try {
                memberFiles.requireLengths();
            } catch (LarderException e) {
                cancel(e);
            }
        }
    }

    private Provenance provenance(Publisher builder) {
        return Provenance.computed(retention.ttl().toMillis()).withPublisher(builder);
    }

    /** Returns the answer for the client. */
    public Build build() {
        return new Build(folder().folder().toString(), store.memoryPolicy().toString());
    }

    @Override
    public List<SourceArray> arrays() {
        return arrays;
    }

    /** Gives the build up. If it is being published, it ends as soon as possible. */
    @Override
    public void cancel() {
        cancel(abandoned(new CancellationException()));
    }

    private void cancel(Throwable reason) {
        cancelled = true;
        IncomingVersion version = publishing;
        if (version != null) {
            version.cancel();
        }
        if (state.compareAndSet(State.BUILDING, State.ENDED)) {
            discards.execute(
                    () -> end(null, reason)); // removal takes time, and the control thread may be the one that cancels
        }
    }

    /** Publishes the files of the client, and completes {@link #outcome}. Throws nothing. */
    public void publish() {
        if (!state.compareAndSet(State.BUILDING, State.PUBLISHING)) {
            return; // it was given up, or is being published: the outcome has the result
        }
        try {
            end(publishAll(), null);
        } catch (RuntimeException | Error e) {
            end(null, cancelled ? abandoned(e) : e);
        }
    }

    private RuntimeException abandoned(Throwable cause) {
        return Failure.of(ErrorCode.INTERRUPTED, "build was abandoned")
                .with("dataset", dataset)
                .cause(cause)
                .remedy("the next client that asks for it builds it");
    }

    private void end(@Nullable Done done, @Nullable Throwable failure) {
        Throwable reason = failure;
        state.set(State.ENDED);
        Place closing = place;
        try {
            if (closing != null) {
                closing.close();
            }
        } catch (RuntimeException | Error e) { // otherwise the dataset could never be built again
            LOG.warn("files of a build were not all removed: {}", Failure.words(e));
            reason = reason == null ? e : reason;
        }
        if (done != null) {
            residency.removeReplaced(); // after the reservation has been released, because removal takes time
        }
        beforeOutcome.run();
        if (done != null) {
            ending.outcome().complete(done);
        } else if (reason != null) {
            ending.outcome().completeExceptionally(reason);
        }
    }

    private Done publishAll() {
        progress.enter(Phase.SCANNING);
        Publisher builder = publisher;
        MemberFiles memberFiles = memberFiles();
        if (memberFiles != null) {
            memberFiles.seal();
            builder = publisher.withClaimedSources(memberFiles.claimedSources());
        }
        arrays = scan();
        PackRule packs = PackRule.of(LoadOptions.none(), store.hugePages());
        Predicate<SourceArray> isMoved =
                packs.packed(arrays).negate().and(array -> MovableFiles.fits(array, folder().folder()));
        List<SourceArray> moved = arrays.stream().filter(isMoved).toList();
        LoadPlan plan = LoadPlan.of(arrays.stream().filter(isMoved.negate()).toList(), packs);
        long bytes = ByteSums.sum(arrays.stream().mapToLong(SourceArray::byteSize));
        long stored = ByteSums.add(
                plan.storedBytes(),
                ByteSums.sum(moved.stream().mapToLong(array -> Store.storedBytes(array.byteSize()))));
        Reservation reservation = reservation();
        reservation.allowFor(1, arrays.size());
        long manifests = store.manifestBytes(1);
        long written = manifests == 0 ? stored : Math.max(stored, reservation.writtenBytes()); // huge pages take more
        growTo(ByteSums.add(
                ByteSums.add(written, plan.storedBytes()),
                manifests)); // copied files are in the store twice for a while
        progress.begin(Phase.LOADING, bytes, arrays.size());
        try (IncomingVersion version = store.newIncoming(dataset, provenance(builder))) {
            publishing = version;
            reservation.writesTo(version.folder());
            if (cancelled) {
                version.cancel();
            }
            List<SourceArray> stillWritten = MovableFiles.moveAll(moved, version, progress);
            if (!stillWritten.isEmpty()) {
                reservation.growTo(stored
                        + plan.storedBytes()
                        + LoadPlan.of(stillWritten, packs).storedBytes());
            }
            try (Copier copier = new Copier(workers, progress)) {
                copier.add(version, plan.with(stillWritten, packs));
                copier.start();
                copier.await();
            }
            if (cancelled) {
                throw new CancellationException("cancelled before publishing");
            }
            progress.enter(Phase.PUBLISHING);
            if (retention.pinned()) {
                version.pin();
            }
            PublishedVersion published =
                    residency.publish(List.of(version), reservation).get(0);
            String note = reservation.evictionNote().map(text -> "\n" + text).orElse("");
            return Done.of(arrays.size(), bytes, "version " + published.version() + note);
        }
    }

    private void requireFiles() {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder().folder())) {
            if (!files.iterator().hasNext()) {
                throw Failure.of(ErrorCode.BAD_INPUT, "a build has no array")
                        .with("dataset", dataset)
                        .remedy("add one before it is published");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<SourceArray> scan() {
        requireFiles();
        List<SourceArray> found = new ArrayList<>();
        ScanSettings scanning = new ScanSettings(workers, true, () -> cancelled, checked -> {});
        for (SourceArray array : ScannedSource.scan(dataset, folder().folder(), SourceOptions.none(), scanning)
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
