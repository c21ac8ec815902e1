package dev.larder.loader.internal.field;

import dev.larder.client.Dataset;
import dev.larder.client.StoredVersion;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.posix.DiskFile;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.posix.ThreadUsage;
import dev.larder.loader.internal.device.HostMemory;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one array or column in a file on a disk, which may not be in memory.
 *
 * <p>Rows are read by calls at first, and the read-ahead thread requests them before. When many requests in a row have found all data in
 * memory, rows are copied from the mapping, which takes less time. When such a copy waits for the disk, rows are read by calls again, and
 * twice as many requests have to find their data in memory.
 *
 * <p>Gather threads read; only the read-ahead thread calls {@link #request} and {@link #endRequests}.
 */
public final class DiskRows {
    /** The number of requests without a disk read before rows are copied from the mapping. */
    private static final int LEAST_REQUESTS = 1024;

    private static final int MOST_REQUESTS = 1 << 20;

    /** Requests this close to each other are made as one. */
    private static final long GAP_BYTES = 4096;

    private static final long LONGEST_REQUEST_BYTES = 1 << 20;

    /** A read that takes longer is reported if the consumer got no batch in time. */
    private static final long HANGING_NANOS = Duration.ofMillis(20).toNanos();

    private final DiskFile file;
    private final long start;

    /** The reads of each thread; not a ThreadLocal, which would stay in a thread that outlives the loader. */
    private final Map<Thread, Reader> readers = new ConcurrentHashMap<>();

    private final AtomicLong waits = new AtomicLong();

    private volatile boolean mapped;
    private volatile int patience = LEAST_REQUESTS;

    // of the read-ahead thread
    private final ThreadUsage requesting = new ThreadUsage();
    private long from;
    private long to;
    private int requests;
    private int requestsBefore;
    private long diskBytesBefore;
    private long waitsBefore;

    private DiskRows(DiskFile file, long start) {
        this.file = file;
        this.start = start;
    }

    /** The open files of a loader: a pack has many arrays, and one descriptor is enough for it. */
    static final class OpenFiles {
        private final Map<Path, Optional<DiskFile>> opened = new HashMap<>();

        /** Returns the rows of an array or column; null if they are in memory, or the file cannot be opened: then the mapping is read. */
        @Nullable
        DiskRows rows(Dataset dataset, String column, ColumnPart values) {
            StoredVersion stored = dataset.stored();
            String array = values.arrayName(column);
            return opened.computeIfAbsent(stored.file(array), OpenFiles::open)
                    .map(file -> new DiskRows(file, stored.offset(array)))
                    .orElse(null);
        }

        void close() {
            opened.values().forEach(file -> file.ifPresent(DiskFile::close));
        }

        private static Optional<DiskFile> open(Path file) {
            try {
                return Optional.ofNullable(DiskFile.open(Posix.system(), file));
            } catch (LarderException e) {
                return Optional.empty();
            }
        }
    }

    /** Closes the file, also for other rows in it. */
    void close() {
        file.close();
    }

    /** Returns whether rows are read by calls, and not copied from the mapping. */
    boolean isRead() {
        return !mapped;
    }

    /** Reads rows by calls from now on. Returns false if they are read so already. */
    synchronized boolean leaveMapping() {
        boolean left = mapped;
        if (left) {
            patience = Math.min(MOST_REQUESTS, 2 * patience);
            mapped = false;
        }
        return left;
    }

    // ---- for gather threads

    /** Reads rows to consecutive places of a target. */
    void read(SourceRows source, long[] rows, int first, int count, MutableDirectBuffer target, int offset) {
        Reader reader = reader();
        reader.begin();
        try {
            int place = offset;
            for (int i = first; i < first + count; i++) {
                int length = Math.toIntExact(source.byteSize(rows[i]));
                reader.read(rows[i], source.position(rows[i]), length, target, place);
                place += length;
            }
        } finally {
            reader.end();
            Reference.reachabilityFence(target);
        }
    }

    /** Reads the first bytes of a row. */
    void read(SourceRows source, long row, int length, MutableDirectBuffer target, int offset) {
        Reader reader = reader();
        reader.begin();
        try {
            reader.read(row, source.position(row), length, target, offset);
        } finally {
            reader.end();
            Reference.reachabilityFence(target);
        }
    }

    /** Reads a row to memory of the calling thread, which its next read changes. */
    DirectBuffer read(SourceRows source, long row) {
        Reader reader = reader();
        reader.begin();
        try {
            return reader.read(row, source.position(row), Math.toIntExact(source.byteSize(row)));
        } finally {
            reader.end();
        }
    }

    /** Adds a wait of the calling thread for the disk. */
    void addWait(long nanos) {
        waits.incrementAndGet();
        reader().waitNanos += nanos;
    }

    /** Returns how often gather threads have waited for the disk. */
    public long waits() {
        return waits.get();
    }

    /** Returns how long the calling thread has waited for the disk. */
    long waitNanos() {
        return reader().waitNanos;
    }

    /** Returns whether a read takes very long. */
    boolean isHanging() {
        return longestReadNanos() > HANGING_NANOS;
    }

    /** Adds the file and the time of a read that hangs to a failure, if there is one. */
    void describeHanging(Failure failure) {
        if (isHanging()) {
            failure.with("reading", file.path())
                    .with("since", Duration.ofNanos(longestReadNanos()).toMillis() + "ms");
        }
    }

    private long longestReadNanos() {
        long now = System.nanoTime();
        return readers.values().stream()
                .mapToLong(reader -> reader.since)
                .filter(since -> since != 0)
                .map(since -> now - since)
                .max()
                .orElse(0);
    }

    private Reader reader() {
        Thread thread = Thread.currentThread();
        Reader reader = readers.get(thread);
        if (reader == null) {
            reader = new Reader();
            readers.put(thread, reader);
        }
        return reader;
    }

    // ---- for the read-ahead thread

    /** Requests a row, together with adjacent ones. */
    void request(SourceRows source, long row) {
        long position = source.position(row);
        long end = position + source.byteSize(row);
        if (to > from && position >= from && position <= to + GAP_BYTES && end - from <= LONGEST_REQUEST_BYTES) {
            to = Math.max(to, end);
        } else {
            requestNow();
            from = position;
            to = end;
        }
        requests++;
    }

    /** Counts a row that is not read, because its result is kept. */
    void passOver() {
        requests++;
    }

    private void requestNow() {
        if (to > from) {
            file.readAhead(start + from, to - from);
        }
        from = 0;
        to = 0;
    }

    /** Begins some requests. */
    void beginRequests() {
        requestsBefore = requests;
        requesting.update();
        diskBytesBefore = requesting.diskBytes();
    }

    /** Makes the last request, and decides whether rows can be copied from the mapping. */
    void endRequests() {
        requestNow();
        if (mapped || requests == requestsBefore) {
            return;
        }
        requesting.update();
        boolean wereInMemory = requesting.diskBytes() == diskBytesBefore && waits() == waitsBefore;
        if (!wereInMemory || requests >= patience) {
            mapped = wereInMemory;
            requests = 0;
            waitsBefore = waits();
        }
    }

    /** One thread's reads. */
    private final class Reader {
        private final ThreadUsage usage = new ThreadUsage();
        private final UnsafeBuffer own = new UnsafeBuffer(new byte[0]);
        private final UnsafeBuffer window = new UnsafeBuffer(own);
        private long waitsBefore;
        private long waitNanos;

        /** When the read began; 0 if there is none. */
        private volatile long since;

        void begin() {
            usage.update();
            waitsBefore = usage.waits();
            since = System.nanoTime() | 1;
        }

        void end() {
            long nanos = System.nanoTime() - since;
            since = 0;
            usage.update();
            if (usage.waits() != waitsBefore) {
                addWait(nanos);
            }
        }

        void read(long row, long position, int length, MutableDirectBuffer target, int offset) {
            Objects.checkFromIndexSize(offset, length, target.capacity());
            if (target.byteArray() == null) {
                file.read(row, start + position, target.addressOffset() + offset, length);
            } else {
                target.putBytes(offset, read(row, position, length), 0, length);
            }
        }

        DirectBuffer read(long row, long position, int length) {
            if (own.capacity() < length) {
                own.wrap(HostMemory.allocate(length + length / 4L).bytes());
            }
            file.read(row, start + position, own.addressOffset(), length);
            window.wrap(own, 0, length);
            return window;
        }
    }
}
