package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.layout.RowsDescriptor;
import dev.larder.internal.rows.RowsRegion;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import dev.larder.internal.view.Targets;
import dev.larder.npy.Dtype;
import dev.larder.rows.RowComputation;
import dev.larder.rows.RowsSpec;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.agrona.MutableDirectBuffer;

/**
 * Rows that the first process to need them computes, for all processes and later runs. The store keeps them. They are published one by
 * one and never change afterwards. Belongs to its {@link Dataset}, which closes it.
 *
 * <p>If several readers need a row at the same time, one computes it; if its process dies, the next one does. A reader that has waited
 * {@link RowsSpec#patience} for another process computes the row for itself and does not publish it. For the same time afterwards it
 * waits for no other row, so that the waits for one stopped process do not add up. The first read of a row from another process compares
 * its checksum. If it differs, the row is logged and computed for this process alone at each read ({@code larder verify} lists all of
 * them).
 *
 * <p>Thread-safe; each thread has its own {@link Reader}.
 */
public final class ComputedRows {
    private static final VarHandle BITS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final Duration FIRST_PAUSE = Duration.ofNanos(50_000);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(5);

    private final RowsSpec spec;
    private final RowsRegion region;
    private final ArrayView view;
    private final long rows;

    /** A bit for each row that this process has computed or compared. */
    private final long[] ready;

    /** Rows whose wait has timed out. They are not waited for again. */
    private final Set<Long> timedOutRows = ConcurrentHashMap.newKeySet();

    /** When a wait timed out last; valid if {@link #hasTimedOut}. */
    private volatile long lastTimeoutNs;

    private volatile boolean hasTimedOut;

    private final LongAdder computed = new LongAdder();
    private final LongAdder computedAlone = new LongAdder();
    private final LongAdder damaged = new LongAdder();
    private final AtomicBoolean warned = new AtomicBoolean();

    ComputedRows(RowsSpec spec, RowsRegion region, Dataset owner) {
        this.spec = spec;
        this.region = region;
        this.rows = region.header().rows();
        this.ready = new long[Math.toIntExact((rows + Long.SIZE - 1) / Long.SIZE)];
        ArrayEntry entry = new ArrayEntry(
                spec.name(),
                spec.dtype().toString(),
                'C',
                region.header().shape(),
                region.file().toString(),
                RegionDescriptor.DATA_OFFSET + region.header().dataStart(),
                rows * region.header().rowByteSize(),
                0);
        this.view = new ArrayView(entry, region.memory(), owner);
    }

    /** Returns the header of the rows of a dataset. Fails if the specification does not fit the dataset. */
    static RowsDescriptor.Header header(Dataset dataset, RowsSpec spec) {
        if (spec.steps().isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "computed rows have no version of their code")
                    .with("rows", spec.name())
                    .remedy("set one, and change it when the code computes other rows: version(\"1\")");
        }
        long rows = -1;
        for (String array : spec.arrays()) {
            long found = dataset.rowsOf(array);
            if (rows >= 0 && rows != found) {
                throw Failure.of(ErrorCode.BAD_INPUT, "arrays of computed rows differ in their numbers of rows")
                        .with("dataset", dataset.name())
                        .with("arrays", spec.arrays())
                        .with(array, found)
                        .with("others", rows)
                        .remedy("name arrays with equal first dimensions");
            }
            rows = found;
        }
        long bytes = spec.dtype().itemSize();
        for (long size : spec.shape()) {
            bytes = ByteSums.multiply(bytes, size);
        }
        if (bytes > RowsDescriptor.MOST_ROW_BYTES) {
            throw Failure.of(ErrorCode.BAD_INPUT, "a computed row is too long")
                    .with("rows", spec.name())
                    .with("bytes", bytes)
                    .with("limit", RowsDescriptor.MOST_ROW_BYTES)
                    .remedy("keep smaller rows");
        }
        RowsDescriptor.Key key = new RowsDescriptor.Key(
                dataset.digest(),
                String.join(",", spec.arrays()),
                spec.dtype().toString(),
                spec.shape().stream().map(String::valueOf).collect(Collectors.joining(",")),
                spec.steps());
        return RowsDescriptor.Header.of(spec.name(), key, rows, bytes);
    }

    /** Returns the name of the rows, for people. */
    public String name() {
        return spec.name();
    }

    /** Returns the number of rows, computed or not. */
    public long rows() {
        return rows;
    }

    /** Returns the type of the elements. */
    public Dtype dtype() {
        return spec.dtype();
    }

    /** Returns the dimensions of all rows together, as a new array. */
    public long[] shape() {
        return view.shape();
    }

    /** Returns the length of a row in bytes. */
    public long rowByteSize() {
        return region.header().rowByteSize();
    }

    /** Counts the rows that any process has published. Reads the state of every row. */
    public long published() {
        view.requireOpen();
        return region.published();
    }

    /** Returns whether a process has published a row. */
    public boolean isPublished(long row) {
        view.requireOpen();
        return region.stateAcquire(Objects.checkIndex(row, rows)) != RowsDescriptor.EMPTY;
    }

    /** Returns the number of rows that this process has computed and published. */
    public long computed() {
        return computed.sum();
    }

    /** Returns the number of rows that this process has computed for itself alone, after a timeout or because they were damaged. */
    public long computedAlone() {
        return computedAlone.sum();
    }

    /** Returns how often this process has read a row whose checksum differs. */
    public long damaged() {
        return damaged.sum();
    }

    /** Returns whether the rows can be read. */
    public boolean isOpen() {
        return view.isOpen();
    }

    /** Returns a reader for one thread. It computes missing rows with {@code function}. */
    public Reader reader(RowComputation function) {
        return reader(function, spec.patience());
    }

    /** Returns a reader for one thread with its own patience. */
    public Reader reader(RowComputation function, Duration patience) {
        return new Reader(function, patience);
    }

    void invalidate() {
        view.invalidate();
    }

    private boolean isReady(long row) {
        return ((long) BITS.getAcquire(ready, (int) (row >>> 6)) & 1L << row) != 0;
    }

    private void setReady(long row) {
        var unused = (long) BITS.getAndBitwiseOr(ready, (int) (row >>> 6), 1L << row);
    }

    private void warnOfDamage(long row) {
        damaged.increment();
        if (warned.compareAndSet(false, true)) {
            Logs.of(ComputedRows.class)
                    .warn(
                            "a computed row is damaged, so this process computes it for itself: rows={} row={} file={};"
                                    + " larder verify {} names all of them, larder evict {} forgets them",
                            region.header().region(),
                            row,
                            region.file(),
                            region.header().region(),
                            region.header().region());
        }
    }

    /** Reads rows and computes the missing ones. Not thread-safe. */
    public final class Reader {
        private final RowComputation function;
        private final Duration patience;
        private final byte[] bytes = new byte[(int) rowByteSize()];
        private final ByteBuffer buffer = ByteBuffer.wrap(bytes).order(dtype().byteOrder());
        private final CRC32 crc = new CRC32();

        private Reader(RowComputation function, Duration patience) {
            this.function = Objects.requireNonNull(function, "the function is null");
            this.patience = patience;
        }

        /** Gathers rows: copies row {@code indices[i]} to {@code targetOffset + i * rowByteSize()}. */
        public void copyRows(long[] indices, MutableDirectBuffer target, int targetOffset) {
            copyRows(indices, 0, indices.length, target, targetOffset);
        }

        /**
         * Gathers the rows {@code indices[first]} to {@code indices[first + count - 1]}. If all of them are known to be
         * published, this is {@link ArrayView#copyRows} and allocates nothing. If the function throws, a
         * {@link LarderException} names the row and has the exception as its cause; the next caller computes that row.
         */
        public void copyRows(long[] indices, int first, int count, MutableDirectBuffer target, int targetOffset) {
            Objects.checkFromIndexSize(first, count, indices.length);
            boolean allReady = true;
            for (int i = first; i < first + count; i++) {
                allReady &= isReady(Objects.checkIndex(indices[i], rows));
            }
            if (allReady) {
                view.copyRows(indices, first, count, target, targetOffset);
                return;
            }
            Targets.requireWritable(target, targetOffset, Math.multiplyExact(count, rowByteSize()));
            var unused = computeFree(indices, first, count);
            long startNs = System.nanoTime();
            for (int i = first; i < first + count; i++) {
                int offset = targetOffset + (i - first) * (int) rowByteSize();
                if (isReady(indices[i])) {
                    view.copyRows(indices, i, 1, target, offset);
                } else {
                    obtain(indices[i], startNs);
                    target.putBytes(offset, bytes);
                }
            }
            view.requireOpen(); // if it was closed, the bytes compared above were zeros
        }

        /**
         * Computes and publishes the missing rows among these that no other process is computing. Returns whether all of them
         * are published. Processes that read the same rows in the same order share the work if each calls this for many rows
         * before it waits for one. Throws as {@link #copyRows} does.
         */
        public boolean computeFree(long[] indices, int first, int count) {
            boolean allPublished = true;
            for (int i = first; i < first + count; i++) {
                long row = Objects.checkIndex(indices[i], rows);
                if (!isReady(row)) {
                    view.requireOpen();
                    allPublished &= region.stateAcquire(row) != RowsDescriptor.EMPTY
                            || tryCompute(row)
                            || region.stateAcquire(row) != RowsDescriptor.EMPTY;
                }
            }
            return allPublished;
        }

        /** Computes and publishes a row, and leaves its bytes in {@code bytes}. Returns false if the row is claimed or published. */
        private boolean tryCompute(long row) {
            if (!region.tryClaim(row)) {
                return false;
            }
            try {
                if (region.stateAcquire(row)
                        != RowsDescriptor.EMPTY) { // published just before this thread got the claim
                    return false;
                }
                compute(row);
                region.publish(row, bytes, crc);
                setReady(row);
                computed.increment();
                return true;
            } finally {
                region.release(row);
            }
        }

        private void compute(long row) {
            Arrays.fill(bytes, (byte) 0);
            buffer.clear().order(dtype().byteOrder());
            try {
                function.compute(row, buffer);
            } catch (LarderException e) {
                throw e;
            } catch (RuntimeException e) {
                throw failure("the function of computed rows failed", row)
                        .with("error", e)
                        .cause(e)
                        .exception();
            }
            if (buffer.limit() != bytes.length || buffer.position() % Math.max(1, bytes.length) != 0) {
                throw failure("the function of computed rows wrote only part of a row", row)
                        .with("written", buffer.position())
                        .with("bytes", bytes.length)
                        .remedy("write the whole row, or write by index and leave the position at 0");
            }
        }

        private Failure failure(String summary, long row) {
            return Failure.of(ErrorCode.UNEXPECTED, summary)
                    .with("rows", name())
                    .with("row", row);
        }

        /** Leaves the bytes of a row in {@code bytes}: reads it if it is published, else computes it. */
        private void obtain(long row, long startNs) {
            boolean mayWait = !timedOutRows.contains(row) && !timedOutRecently();
            Deadline deadline = Deadline.after(mayWait ? patience : Duration.ZERO, startNs);
            Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
            while (true) {
                view.requireOpen();
                long state = region.stateAcquire(row);
                if (state != RowsDescriptor.EMPTY) {
                    readPublished(row, state);
                    return;
                }
                if (tryCompute(row)) {
                    timedOutRows.remove(row);
                    return;
                }
                if (region.stateAcquire(row) != RowsDescriptor.EMPTY) {
                    continue;
                }
                if (deadline.isOver()) {
                    timedOutRows.add(row);
                    if (mayWait) {
                        lastTimeoutNs = System.nanoTime();
                        hasTimedOut = true;
                    }
                    computeAlone(row);
                    return;
                }
                if (!backoff.pause(deadline)) {
                    throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while another process computes a row")
                            .with("rows", name())
                            .with("row", row)
                            .exception();
                }
            }
        }

        /** Returns whether a wait timed out within the last patience. The process that holds one row may hold others. */
        private boolean timedOutRecently() {
            return hasTimedOut && System.nanoTime() - lastTimeoutNs < patience.toNanos();
        }

        private void readPublished(long row, long state) {
            if (region.copyIntact(row, state, bytes, crc) || isIntactOnceClaimed(row, state)) {
                setReady(row);
                return;
            }
            view.requireOpen(); // if the view was closed, the row was read as zeros
            warnOfDamage(row);
            computeAlone(row);
        }

        /**
         * Compares the row again under its claim. Python releases a claim after its stores, and on some processors only that
         * orders them.
         */
        private boolean isIntactOnceClaimed(long row, long state) {
            if (!region.tryClaim(row)) {
                return false;
            }
            try {
                return region.copyIntact(row, state, bytes, crc);
            } finally {
                region.release(row);
            }
        }

        private void computeAlone(long row) {
            compute(row);
            computedAlone.increment();
        }
    }

    @Override
    public String toString() {
        return "ComputedRows{" + region.header().region() + " rows=" + rows + "}";
    }
}
