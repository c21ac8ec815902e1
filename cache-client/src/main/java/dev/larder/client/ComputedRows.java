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
 * Rows that whoever comes first computes, for all processes and later runs. They lie in the store, are published one by one, and
 * never change after that. Belongs to its {@link Dataset}, which closes it.
 *
 * <p>Of all that ask for a row at once, one computes it; where that one dies, the next does. Who has waited for another process for
 * as long as {@link RowsSpec#patience} says computes the row for itself, and publishes nothing; for as long again it waits for no
 * row, so that waits for the rows of one stopped process do not add up. The checksum of a row that another
 * process has published is compared when this process reads it for the first time; one that differs is logged, and computed for this
 * process alone each time it is asked for ({@code larder verify} names all of them).
 *
 * <p>Thread-safe; each thread has a {@link Reader} of its own.
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

    /** Rows that were waited for in vain: nobody waits for them twice. */
    private final Set<Long> givenUp = ConcurrentHashMap.newKeySet();

    /** When somebody last waited in vain, and whether anybody has. */
    private volatile long inVainNs;

    private volatile boolean isInVain;

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

    /** Lays out the rows of a dataset, or says why it has none such. */
    static RowsDescriptor.Header header(Dataset dataset, RowsSpec spec) {
        if (spec.steps().isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "nothing says which code computes these rows")
                    .with("rows", spec.name())
                    .remedy("give its version, and another one when it computes other rows: version(\"1\")");
        }
        long rows = -1;
        for (String array : spec.arrays()) {
            long found = dataset.rowsOf(array);
            if (rows >= 0 && rows != found) {
                throw Failure.of(ErrorCode.BAD_INPUT, "arrays of computed rows differ in rows")
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

    /** Returns what people call them. */
    public String name() {
        return spec.name();
    }

    /** Returns how many rows there are, computed or not. */
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

    /** Counts the rows that are published, by whichever process. Looks at every row. */
    public long published() {
        view.requireOpen();
        return region.published();
    }

    /** Returns how many rows this process has computed and published. */
    public long computed() {
        return computed.sum();
    }

    /** Returns how many rows this process has computed for itself alone, as their claim was not free in time, or they were damaged. */
    public long computedAlone() {
        return computedAlone.sum();
    }

    /** Returns how often this process has met a row whose checksum differs. */
    public long damaged() {
        return damaged.sum();
    }

    /** Tells whether they can be read. */
    public boolean isOpen() {
        return view.isOpen();
    }

    /** Makes what one thread reads rows with; those that are missing are computed by {@code function}. */
    public Reader reader(RowComputation function) {
        return reader(function, spec.patience());
    }

    /** Does the same with a patience of its own instead of the one that these rows were opened with. */
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
                            "a computed row is damaged, and computed for this process alone: rows={} row={} file={};"
                                    + " larder verify {} names all of them, larder evict {} forgets them",
                            region.header().region(),
                            row,
                            region.file(),
                            region.header().region(),
                            region.header().region());
        }
    }

    /** Reads rows, and computes those that are missing. For one thread. */
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

        /** Gathers rows: row {@code wanted[i]} comes to {@code targetOffset + i * rowByteSize()}. */
        public void copyRows(long[] wanted, MutableDirectBuffer target, int targetOffset) {
            copyRows(wanted, 0, wanted.length, target, targetOffset);
        }

        /**
         * Gathers the rows {@code wanted[first]} to {@code wanted[first + count - 1]}. Where all of them are known to be published, it
         * is {@link ArrayView#copyRows}, and allocates nothing. If the function throws, a {@link LarderException} names the row, with
         * the exception as its cause, and the next caller computes that row.
         */
        public void copyRows(long[] wanted, int first, int count, MutableDirectBuffer target, int targetOffset) {
            Objects.checkFromIndexSize(first, count, wanted.length);
            boolean areReady = true;
            for (int i = first; i < first + count; i++) {
                areReady &= isReady(Objects.checkIndex(wanted[i], rows));
            }
            if (areReady) {
                view.copyRows(wanted, first, count, target, targetOffset);
                return;
            }
            Targets.requireWritable(target, targetOffset, Math.multiplyExact(count, rowByteSize()));
            var unused = computeFree(wanted, first, count);
            long beganNs = System.nanoTime();
            for (int i = first; i < first + count; i++) {
                int offset = targetOffset + (i - first) * (int) rowByteSize();
                if (isReady(wanted[i])) {
                    view.copyRows(wanted, i, 1, target, offset);
                } else {
                    obtain(wanted[i], beganNs);
                    target.putBytes(offset, bytes);
                }
            }
            view.requireOpen(); // else what was compared were zeros
        }

        /**
         * Computes and publishes those of these rows that are missing and that nobody else is at, and returns whether all of them are
         * published. Processes that read the same rows in the same order share the work where each does this for many rows before it
         * waits for one. Exceptions are those of {@link #copyRows}.
         */
        public boolean computeFree(long[] wanted, int first, int count) {
            boolean areAll = true;
            for (int i = first; i < first + count; i++) {
                long row = Objects.checkIndex(wanted[i], rows);
                if (!isReady(row)) {
                    view.requireOpen();
                    areAll &= region.stateAcquire(row) != RowsDescriptor.EMPTY
                            || tryCompute(row)
                            || region.stateAcquire(row) != RowsDescriptor.EMPTY;
                }
            }
            return areAll;
        }

        /** Computes and publishes a row that nobody else computes; false where somebody does. Leaves its bytes where it did. */
        private boolean tryCompute(long row) {
            if (!region.tryClaim(row)) {
                return false;
            }
            try {
                if (region.stateAcquire(row) != RowsDescriptor.EMPTY) { // published just before we had the claim
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
                throw failure("a function of rows failed", row)
                        .with("error", e)
                        .cause(e)
                        .exception();
            }
            if (buffer.limit() != bytes.length || buffer.position() % Math.max(1, bytes.length) != 0) {
                throw failure("a function left a part of its row unwritten", row)
                        .with("written", buffer.position())
                        .with("bytes", bytes.length)
                        .remedy("write the whole row, or write by index and leave the position at 0");
            }
        }

        private Failure failure(String what, long row) {
            return Failure.of(ErrorCode.UNEXPECTED, what).with("rows", name()).with("row", row);
        }

        /** Leaves the bytes of a row: published by others, or computed. */
        private void obtain(long row, long beganNs) {
            boolean isPatient = !givenUp.contains(row) && !wasInVain();
            Deadline deadline = Deadline.after(isPatient ? patience : Duration.ZERO, beganNs);
            Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
            while (true) {
                view.requireOpen();
                long state = region.stateAcquire(row);
                if (state != RowsDescriptor.EMPTY) {
                    readPublished(row, state);
                    return;
                }
                if (tryCompute(row)) {
                    givenUp.remove(row);
                    return;
                }
                if (region.stateAcquire(row) != RowsDescriptor.EMPTY) {
                    continue;
                }
                if (deadline.isOver()) {
                    givenUp.add(row);
                    if (isPatient) {
                        inVainNs = System.nanoTime();
                        isInVain = true;
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

        /** Tells whether a whole patience was lost just now: who has stopped with one row may have others, too. */
        private boolean wasInVain() {
            return isInVain && System.nanoTime() - inVainNs < patience.toNanos();
        }

        private void readPublished(long row, long state) {
            if (region.copyIntact(row, state, bytes, crc) || isIntactOnceClaimed(row, state)) {
                setReady(row);
                return;
            }
            view.requireOpen(); // closed meanwhile, it reads as zeros
            warnOfDamage(row);
            computeAlone(row);
        }

        /** Looks once more after who published it has given the claim up: Python's stores are in order only where the processor's are. */
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
