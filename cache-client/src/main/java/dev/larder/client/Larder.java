package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.ArrayFile;
import dev.larder.internal.DatasetUpload;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.NearNames;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Retention;
import dev.larder.internal.time.Deadline;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A connection to the datasets of a store.
 *
 * <p>Opens resident datasets without the daemon: resolves the name, leases the version and maps it. Only missing datasets need
 * the daemon. Thread-safe. Closing it closes every {@link Dataset} that is still open.
 */
public final class Larder implements AutoCloseable {
    /** The time that {@link #dataset(String)} waits for a dataset that is loading. */
    public static final Duration DEFAULT_TIMEOUT = Duration.ofMinutes(10);

    /** Limit for retries while the daemon holds a version's lock, which it takes briefly to check for readers. */
    private static final Duration RESOLVE_LIMIT = Duration.ofSeconds(2);

    /** The array's name in a dataset that has only one. */
    private static final String ONLY_ARRAY = "data";

    private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{8,64}");
    private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,17}");
    private static final int OPEN_ATTEMPTS = 10;
    private static final int DANGLING_ATTEMPTS = 20;
    private static final long LONGEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final Posix posix;
    private final StoreLayout store;

    /** Weak references, so that the garbage collector finds datasets that were never closed. */
    private final Set<Dataset> datasets = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private final AtomicBoolean open = new AtomicBoolean(true);

    private Larder(Posix posix, StoreLayout store) {
        this.posix = posix;
        this.store = store;
    }

    /**
     * Connects to the store in {@code $LARDER_STORE}, else to the first of these with a daemon: {@code /dev/shm/larder-<user>} and
     * {@code /var/tmp/larder-<user>} of this user, {@code /dev/shm/larder} of a service. Fails with {@code NO_DAEMON} if there is no store.
     */
    public static Larder connect() {
        return connect(StoreLocation.resolve(null));
    }

    /** Connects as {@link #connect()} does, and waits up to {@code timeout} for a daemon to create the store. */
    public static Larder connect(Duration timeout) {
        return connect(StoreLocation.resolve(null), timeout);
    }

    /** Connects to the store in this folder. Refuses an absent store and one with an untrusted owner. */
    public static Larder connect(Path store) {
        Objects.requireNonNull(store, "the store is null");
        RuntimeCheck.requireUsableBuffers();
        StoreLayout layout = new StoreLayout(store);
        StoreLocation.requireStore(layout);
        return new Larder(Posix.system(), layout);
    }

    /** Connects to the store in this folder, and waits up to {@code timeout} for a daemon to create it. */
    public static Larder connect(Path store, Duration timeout) {
        Objects.requireNonNull(store, "the store is null");
        Objects.requireNonNull(timeout, "the timeout is null");
        RuntimeCheck.requireUsableBuffers();
        DaemonWait.awaitStore(new StoreLayout(store), timeout);
        return connect(store);
    }

    /** Returns the folder of the store. */
    public Path store() {
        return store.root();
    }

    /** Opens the newest version of a dataset. Waits if it is loading. Fails immediately with similar names if it is unknown. */
    public Dataset dataset(String name) {
        return dataset(name, DEFAULT_TIMEOUT);
    }

    /** Opens the newest version of a dataset. Waits up to {@code timeout} if it is loading. */
    public Dataset dataset(String name, Duration timeout) {
        requireOpen();
        Names.requireDataset(name);
        Objects.requireNonNull(timeout, "the timeout is null");
        long startNs = System.nanoTime();
        Deadline deadline = Deadline.after(timeout);
        Dataset dataset = tryOpen(name);
        for (int attempt = 0; dataset == null; attempt++) {
            if (attempt == OPEN_ATTEMPTS) {
                throw Failure.of(ErrorCode.NOT_FOUND, "dataset was removed while it was being opened")
                        .with("dataset", name)
                        .with("store", store.root())
                        .with("attempts", attempt)
                        .remedy(
                                "load it again, and pin it if the store is too small for all datasets in use: larder load --pin");
            }
            // The version may be evicted between the daemon's response and our lease. The next attempt requests it
            // again.
            DaemonWait.awaitDataset(store, name, deadline.remaining());
            dataset = tryOpen(name);
        }
        dataset.recordOpeningTime(Duration.ofNanos(System.nanoTime() - startNs));
        return dataset;
    }

    /**
     * Opens a version of a dataset by its number: the newest, or a replaced one that still has readers. If the version was
     * evicted, it is loaded again, provided that its sources are unchanged.
     */
    public Dataset dataset(String name, long version) {
        return exactly(name, "version", version, number -> number == version, dataset -> dataset.version() == version);
    }

    /** Opens the version of a dataset whose {@link Dataset#digest} begins with these hex digits, at least eight. */
    public Dataset datasetWithDigest(String name, String digest) {
        Objects.requireNonNull(digest, "the digest is null");
        if (!DIGEST.matcher(digest).matches()) {
            throw Failure.of(ErrorCode.USAGE, "not a digest or its beginning")
                    .with("digest", digest)
                    .remedy("give 8 to 64 hex digits, as larder info shows them");
        }
        return exactly(
                name,
                "digest",
                digest,
                number -> true,
                dataset -> dataset.digest().startsWith(digest));
    }

    private Dataset exactly(
            String name, String key, Object value, LongPredicate couldMatch, Predicate<Dataset> matches) {
        requireOpen();
        Names.requireDataset(name);
        Dataset found = tryOpen(name, couldMatch, matches);
        if (found == null && !isCurrentWhole(name)) {
            DaemonWait.awaitDataset(store, name, DEFAULT_TIMEOUT);
            found = tryOpen(name, couldMatch, matches);
        }
        if (found == null) {
            throw Failure.of(ErrorCode.NOT_FOUND, "no such version")
                    .with("dataset", name)
                    .with(key, value)
                    .with("versions", versions(name))
                    .with("store", store.root())
                    .remedy("open the newest version: a replaced one is removed when its last reader closes it");
        }
        return found;
    }

    private boolean isCurrentWhole(String name) {
        Path current = currentVersion(name);
        return current != null && Files.exists(current.resolve(StoreLayout.INDEX));
    }

    /**
     * Opens the newest version that {@code matches}, or returns null if there is none. Retries a locked version for a short
     * time, because the daemon may just be checking for readers.
     */
    private @Nullable Dataset tryOpen(String name, LongPredicate couldMatch, Predicate<Dataset> matches) {
        Deadline deadline = Deadline.after(RESOLVE_LIMIT);
        Set<Long> others = new HashSet<>();
        boolean isLocked = true;
        for (int attempt = 0; isLocked && !deadline.isOver(); attempt++) {
            LockSupport.parkNanos(Math.min(attempt * 10_000L, LONGEST_PAUSE_NS));
            isLocked = false;
            for (long version : versions(name)) {
                if (couldMatch.test(version) && !others.contains(version)) {
                    Path folder = store.version(name, version);
                    Lease lease = Lease.tryTake(posix, folder);
                    Dataset dataset = lease == null ? null : openWhole(name, folder, lease);
                    if (dataset != null && matches.test(dataset)) {
                        return dataset;
                    } else if (dataset != null) {
                        dataset.close();
                    }
                    if (lease != null) {
                        others.add(version);
                    } else {
                        isLocked |= Files.exists(folder.resolve(StoreLayout.LEASE));
                    }
                }
            }
        }
        return null;
    }

    /** Returns the versions that have files, newest first. */
    private List<Long> versions(String name) {
        try (Stream<Path> entries = Files.list(store.dataset(name))) {
            return entries.map(entry -> String.valueOf(entry.getFileName()))
                    .filter(entry -> NUMBER.matcher(entry).matches())
                    .map(Long::valueOf)
                    .sorted(Comparator.reverseOrder())
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /**
     * Opens one array by its name, {@code dataset/array}. The name of the dataset is enough if it has exactly one array.
     * Closing the view ends its lease.
     */
    public OwnedArrayView open(String name) {
        Objects.requireNonNull(name, "the array's name is null");
        String array = Names.arrayIn(name);
        Dataset dataset = dataset(Names.datasetIn(name));
        try {
            return dataset.ownedView(array == null ? onlyArray(dataset) : array);
        } catch (RuntimeException | Error e) {
            dataset.close();
            throw e;
        }
    }

    /**
     * Starts a new version of a dataset. Waits while another process builds or loads one. Each array reserves its own space.
     * The caller closes the builder.
     */
    public DatasetBuilder build(String name) {
        return build(name, BuildOptions.NONE);
    }

    /** Starts a new version as {@link #build(String)} does, with these options. */
    public DatasetBuilder build(String name, BuildOptions options) {
        requireOpen();
        Retention retention = new Retention(options.pinned(), options.ttl());
        Request.Create request = new Request.Create(name, DEFAULT_TIMEOUT, options.bytes(), true, retention);
        return new DatasetBuilder(DatasetUpload.begin(store.root(), request).orElseThrow());
    }

    /**
     * Starts a dataset with one array, which the caller fills through {@link DatasetBuilder#array()} and publishes. The caller
     * closes the builder.
     */
    public DatasetBuilder create(String name, Dtype dtype, long... shape) {
        long bytes = ArrayFile.fileBytes(NpyHeader.of(dtype, Order.C, shape));
        DatasetBuilder dataset = build(name, BuildOptions.NONE.withBytes(bytes));
        try {
            dataset.array(ONLY_ARRAY, dtype, shape);
            return dataset;
        } catch (RuntimeException | Error e) {
            dataset.close();
            throw e;
        }
    }

    /**
     * Opens a dataset, and builds it first if it is not resident. If several callers and processes request it at the same time,
     * one runs its {@code builder} and the others wait; if that one fails or dies, the next one builds. {@code builder} adds
     * and fills arrays; this method publishes them.
     */
    public Dataset getOrCreate(String name, Consumer<? super DatasetBuilder> builder) {
        return getOrCreate(name, builder, DEFAULT_TIMEOUT);
    }

    /** Opens or builds as {@link #getOrCreate(String, Consumer)} does. Waits up to {@code timeout} for other builders. */
    public Dataset getOrCreate(String name, Consumer<? super DatasetBuilder> builder, Duration timeout) {
        requireOpen();
        Names.requireDataset(name);
        Objects.requireNonNull(builder, "the builder is null");
        Dataset resident = tryOpen(name);
        if (resident != null) {
            return resident;
        }
        Optional<DatasetUpload> upload = DatasetUpload.begin(store.root(), new Request.Create(name, timeout, 0, false));
        if (upload.isPresent()) {
            try (DatasetBuilder dataset = new DatasetBuilder(upload.get())) {
                builder.accept(dataset);
                if (!dataset.isPublished()) {
                    dataset.publish();
                }
            }
        }
        return dataset(name, timeout);
    }

    private static String onlyArray(Dataset dataset) {
        List<String> names = dataset.arrayNames();
        if (names.size() != 1) {
            throw dataset.columns().isEmpty()
                    ? NearNames.notOneArray(dataset.store(), dataset.name(), names.size(), names)
                    : Failure.of(ErrorCode.NOT_FOUND, "the dataset has columns, not one array")
                            .with("dataset", dataset.name())
                            .with("arrays", names.size())
                            .with("store", dataset.store())
                            .remedy("open it with Larder.dataset(\"" + dataset.name() + "\"), which has columns "
                                    + dataset.columns());
        }
        return names.get(0);
    }

    /** Opens a resident dataset, or returns null if the name has no version. */
    private @Nullable Dataset tryOpen(String name) {
        Deadline deadline = Deadline.after(RESOLVE_LIMIT);
        for (int attempt = 0; !deadline.isOver(); attempt++) {
            Path folder = currentVersion(name);
            if (folder == null || (attempt >= DANGLING_ATTEMPTS && !Files.exists(folder))) {
                return null;
            }
            Lease lease = Lease.tryTake(posix, folder);
            if (lease != null) {
                return openWhole(name, folder, lease);
            }
            LockSupport.parkNanos(Math.min(attempt * 10_000L, LONGEST_PAUSE_NS));
        }
        return null;
    }

    /** Opens a version, or returns null if its index was removed and the daemon must load it again. */
    private @Nullable Dataset openWhole(String name, Path folder, Lease lease) {
        try {
            return register(Dataset.open(posix, name, folder, lease, this::forget));
        } catch (LarderException e) {
            if (e.code() == ErrorCode.CHECKSUM && !Files.exists(folder.resolve(StoreLayout.INDEX))) {
                return null;
            }
            throw e;
        }
    }

    private Dataset register(Dataset dataset) {
        datasets.add(dataset);
        if (!open.get()) { // a concurrent close may have missed this dataset
            dataset.close();
            requireOpen();
        }
        return dataset;
    }

    private void forget(Dataset dataset) {
        datasets.remove(dataset);
    }

    private @Nullable Path currentVersion(String name) {
        try {
            String version = Files.readSymbolicLink(store.current(name)).toString();
            return store.version(name, Long.parseLong(version));
        } catch (InvalidPathException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "name cannot be a file name in this locale")
                    .with("dataset", name)
                    .with("encoding", System.getProperty("sun.jnu.encoding"))
                    .cause(e)
                    .remedy("set LC_ALL=C.UTF-8");
        } catch (IOException | NumberFormatException e) {
            return null;
        }
    }

    private void requireOpen() {
        if (!open.get()) {
            throw new IllegalStateException("larder is closed: store=" + store.root());
        }
    }

    /** Closes every dataset that is still open. Idempotent. */
    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            List<Dataset> remaining;
            synchronized (datasets) {
                remaining = new ArrayList<>(datasets);
            }
            @Nullable RuntimeException failure = null;
            for (Dataset dataset : remaining) {
                try {
                    dataset.close();
                } catch (LarderException e) {
                    failure = e;
                }
            }
            if (failure != null) {
                throw failure;
            }
        }
    }
}
