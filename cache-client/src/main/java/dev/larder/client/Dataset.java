package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.LeakGuard;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.IndexDescriptor;
import dev.larder.internal.layout.IndexReader;
import dev.larder.internal.layout.NearNames;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.rows.RowsRegion;
import dev.larder.rows.RowsSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One leased version of a dataset. All its arrays come from that version, and none of them is evicted before this is closed.
 *
 * <p>Owns the lease, the mappings and the views, and closes them all. Thread-safe. If it becomes unreachable without being
 * closed, the garbage collector closes it and logs where it was opened.
 */
public final class Dataset implements AutoCloseable {
    private static final Duration OPEN_ROWS_TIMEOUT = Duration.ofSeconds(60);

    private final String name;
    private final IndexReader index;
    private final long version;
    private final String digest;
    private final Resources resources;
    private final LeakGuard leakGuard;
    private final Map<String, ArrayView> views = new HashMap<>();

    /** Rows by their specification, with zero patience in the key. */
    private final Map<RowsSpec, ComputedRows> computedRows = new HashMap<>();

    private final Columns columns;
    private final Consumer<Dataset> onClose;
    private boolean open = true;
    private volatile Duration openingTime = Duration.ZERO;

    private Dataset(String name, Resources resources, IndexReader index, Consumer<Dataset> onClose) {
        this.name = name;
        this.index = index;
        this.version = index.version();
        this.digest = index.digest();
        this.resources = resources;
        this.columns = new Columns(this, index);
        this.onClose = onClose;
        this.leakGuard = new LeakGuard(this, "dataset", name, resources::close);
    }

    /** Opens a leased version. Takes ownership of the lease, even if this fails. */
    static Dataset open(Posix posix, String name, Path folder, Lease lease, Consumer<Dataset> onClose) {
        Resources resources = new Resources(posix, folder, lease);
        try {
            Path file = folder.resolve(StoreLayout.INDEX);
            SegmentFile stored = SegmentFile.inStore(StoreLayout.INDEX, indexByteSize(posix, lease, file));
            MappedMemory memory = resources.map(stored);
            IndexReader index = new IndexReader(memory.buffer(0, memory.byteSize(), memory), file);
            return new Dataset(name, resources, index, onClose);
        } catch (RuntimeException | Error e) {
            resources.close();
            throw e;
        }
    }

    private static long indexByteSize(Posix posix, Lease lease, Path file) {
        int descriptor = SegmentFiles.open(posix, lease, file);
        try {
            long byteSize = posix.status(descriptor).byteSize();
            if (byteSize == 0 || byteSize > IndexDescriptor.BYTE_SIZE_LIMIT) {
                throw Failure.of(ErrorCode.CHECKSUM, "not an index")
                        .with("file", file)
                        .with("bytes", byteSize)
                        .remedy(lease.reload());
            }
            return byteSize;
        } finally {
            posix.close(descriptor);
        }
    }

    /** Returns the dataset's name. */
    public String name() {
        return name;
    }

    /** Returns the version number, a counter of this store. */
    public long version() {
        return version;
    }

    /**
     * Returns whether no newer version was published, as far as calls of this method have seen: one that was published and evicted between
     * two calls is missed. Reads one link of the store each time, without the daemon. Call it between epochs, and open the dataset again
     * to change to the newer version.
     */
    public boolean isNewest() {
        synchronized (views) {
            requireOpen();
            return resources.lease.isNewest();
        }
    }

    /** Returns how long it took to open this, including the wait for a load. */
    public Duration openingTime() {
        return openingTime;
    }

    void recordOpeningTime(Duration time) {
        openingTime = time;
    }

    /** Returns the SHA-256 in hex that identifies the contents on any machine. */
    public String digest() {
        return digest;
    }

    /** Returns the names of all arrays, sorted. The list reads the index lazily and is valid until this is closed. */
    public List<String> arrayNames() {
        requireOpen();
        return new AbstractList<>() {
            @Override
            public String get(int i) {
                synchronized (views) {
                    requireOpen();
                    return index.array(i).name();
                }
            }

            @Override
            public int size() {
                return index.arrayCount();
            }
        };
    }

    /** Returns the view of an array. Every caller gets the same one. It closes with this dataset. */
    public ArrayView array(String array) {
        Objects.requireNonNull(array, "the array's name is null");
        synchronized (views) {
            requireOpen();
            ArrayView view = views.get(array);
            if (view == null) {
                ArrayEntry entry = find(array);
                view = new ArrayView(entry, map(entry), this);
                views.put(array, view);
            }
            return view;
        }
    }

    /** Returns every column, sorted by name. */
    public List<Column> columns() {
        synchronized (views) {
            requireOpen();
            return columns.all();
        }
    }

    /** Returns a column that maps keys to rows. */
    public IndexColumn index(String column) {
        return column(column, Column.Kind.INDEX, IndexColumn.class);
    }

    /** Returns a column of texts. */
    public StringsColumn strings(String column) {
        return column(column, Column.Kind.STRINGS, StringsColumn.class);
    }

    /** Returns a column whose rows are arrays of one dtype, each with its own shape. */
    public RaggedColumn ragged(String column) {
        return column(column, Column.Kind.RAGGED, RaggedColumn.class);
    }

    /** Returns a column whose rows are raw bytes, such as whole files. */
    public BytesColumn bytes(String column) {
        return column(column, Column.Kind.BYTES, BytesColumn.class);
    }

    private <T> T column(String column, Column.Kind kind, Class<T> type) {
        synchronized (views) {
            requireOpen();
            return columns.open(column, kind, type);
        }
    }

    /**
     * Opens rows that the first process to need them computes and all processes read. Every caller with the same {@code spec}
     * gets the same rows. Rows stay after the last process closes them, until the daemon needs the space. Only the dataset's
     * digest and the {@code spec}, which includes the version of the user's code, identify them. They close with this.
     *
     * @throws LarderException USAGE if the code has no version; NO_SPACE or NO_DAEMON if the rows are new and cannot get space;
     *     REFUSED if the store belongs to another user
     */
    public ComputedRows rows(RowsSpec spec) {
        RowsSpec key = spec.patience(Duration.ZERO);
        synchronized (views) {
            requireOpen();
            ComputedRows known = computedRows.get(key);
            if (known != null) {
                return known;
            }
        }
        RowsRegion region = RowsRegion.openOrCreate(store(), ComputedRows.header(this, spec), OPEN_ROWS_TIMEOUT);
        synchronized (views) {
            ComputedRows known = computedRows.get(key);
            if (!open || known != null) { // closed or opened by another thread meanwhile
                region.close();
                requireOpen();
                return Objects.requireNonNull(known);
            }
            resources.regions.add(region);
            ComputedRows rows = new ComputedRows(spec, region, this);
            computedRows.put(key, rows);
            return rows;
        }
    }

    /** Returns the number of rows of an array or a column. */
    long rowsOf(String name) {
        Column.Kind kind;
        synchronized (views) {
            requireOpen();
            kind = columns.kindOf(name, null);
        }
        if (kind == null) {
            return array(name).rows();
        }
        return switch (kind) {
            case STRINGS -> strings(name).rows();
            case RAGGED -> ragged(name).rows();
            case BYTES -> bytes(name).rows();
            case INDEX ->
                throw Failure.of(ErrorCode.USAGE, "an index has no rows")
                        .with("dataset", this.name)
                        .with("column", name)
                        .remedy("name an array, or a column of texts, bytes or ragged rows");
        };
    }

    /** Returns whether a column has this part. */
    boolean has(String column, ColumnPart part) {
        synchronized (views) {
            requireOpen();
            return columns.has(column, part);
        }
    }

    /** Returns a view that owns this dataset and closes it. */
    OwnedArrayView ownedView(String array) {
        synchronized (views) {
            requireOpen();
            ArrayEntry entry = find(array);
            OwnedArrayView view = new OwnedArrayView(entry, map(entry), this);
            views.put(array, view);
            return view;
        }
    }

    private MappedMemory map(ArrayEntry entry) {
        return resources.map(index.segmentOf(entry.name()));
    }

    private ArrayEntry find(String array) {
        ArrayEntry entry = index.find(array);
        if (entry == null) {
            throw NearNames.noSuchArray(store(), name, version, array, entries());
        }
        return entry;
    }

    /** Returns the folder of the store, for messages. */
    Path store() {
        return StoreLayout.storeOf(resources.folder);
    }

    private List<ArrayEntry> entries() {
        return IntStream.range(0, index.arrayCount()).mapToObj(index::array).toList();
    }

    private void requireOpen() {
        if (!open) {
            throw new IllegalStateException("dataset is closed: dataset=" + name);
        }
    }

    /** Returns the files and the lease of this version, for operators and for programs in other languages. */
    public StoredVersion stored() {
        return new StoredVersion(this);
    }

    void requireSourcesUnchanged() {
        synchronized (views) {
            requireOpen();
            for (int number = 0; number < index.segmentCount(); number++) {
                if (SegmentFile.isOutside(index.segmentFile(number))) {
                    SegmentFiles.requireUnchanged(resources.posix, index.segment(number));
                }
            }
        }
    }

    Path folder() {
        return resources.folder;
    }

    Path file(String array) {
        Objects.requireNonNull(array, "the array's name is null");
        synchronized (views) {
            requireOpen();
            return resources.folder.resolve(find(array).file());
        }
    }

    long offset(String array) {
        Objects.requireNonNull(array, "the array's name is null");
        synchronized (views) {
            requireOpen();
            return find(array).offset();
        }
    }

    void keepLeaseAcrossExec() {
        synchronized (views) {
            requireOpen();
            resources.lease.keepAcrossExec();
        }
    }

    /** Closes every view, then the mappings, then the lease. Idempotent. */
    @Override
    public void close() {
        synchronized (views) {
            if (!open) {
                return;
            }
            open = false;
            views.values().forEach(ArrayView::invalidate);
            views.clear();
            computedRows.values().forEach(ComputedRows::invalidate);
            computedRows.clear();
            try {
                resources.close();
            } finally {
                leakGuard.disarm();
                onClose.accept(this);
            }
        }
    }

    @Override
    public String toString() {
        return "Dataset{" + name + " version " + version + "}";
    }

    /** The lease and the mapped segments of one version. Guarded by the dataset's lock. */
    private static final class Resources implements AutoCloseable {
        private final Posix posix;
        private final Path folder;
        private final Lease lease;
        private final Map<String, MappedMemory> mappings = new HashMap<>();
        private final List<RowsRegion> regions = new ArrayList<>();
        private boolean closed;

        Resources(Posix posix, Path folder, Lease lease) {
            this.posix = posix;
            this.folder = folder;
            this.lease = lease;
        }

        /** Maps a whole segment once for all its arrays. */
        MappedMemory map(SegmentFile segment) {
            String file = segment.file();
            MappedMemory memory = mappings.get(file);
            if (memory == null) {
                memory = SegmentFile.isOutside(file)
                        ? SegmentFiles.mapOutside(posix, segment)
                        : SegmentFiles.map(posix, lease, folder.resolve(file), segment.byteSize());
                mappings.put(file, memory);
            } else if (SegmentFile.isOutside(file)) {
                SegmentFiles.requireUnchanged(posix, segment); // it may have changed since the first view mapped it
            }
            return memory;
        }

        @Override
        public void close() {
            if (closed) {
                return;
            }
            closed = true;
            @Nullable LarderException failure = null;
            for (MappedMemory memory : mappings.values()) {
                try {
                    memory.close();
                } catch (LarderException e) { // the other mappings must close too
                    failure = e;
                }
            }
            mappings.clear();
            for (RowsRegion region : regions) {
                try {
                    region.close();
                } catch (LarderException e) {
                    failure = e;
                }
            }
            lease.release();
            if (failure != null) {
                throw failure;
            }
        }
    }
}
