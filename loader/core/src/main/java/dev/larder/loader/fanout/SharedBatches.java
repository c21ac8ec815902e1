package dev.larder.loader.fanout;

import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.LeakGuard;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.layout.StoreLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The batches that a {@link BatchPublisher} of another process publishes, read in place, without another gather, transform or copy.
 *
 * <pre>{@code
 * try (SharedBatches batches = SharedBatches.attach(larder, "run1")) {
 *     for (SharedBatch batch : batches) {
 *         step(batch.array("image").byteBuffer().asFloatBuffer(), batch.size());
 *     }
 * }
 * }</pre>
 *
 * <p>The loop ends when the producer has closed its publisher. It fails with {@code REFUSED} if the producer died, or dropped
 * this consumer as too slow, and with {@code DEADLINE} if no batch comes in time. One thread loops; any may close.
 */
public final class SharedBatches implements Iterable<SharedBatch>, AutoCloseable {
    private final Attachment attachment;
    private final RingReader ring;
    private final Seat seat;
    private final long ticket;
    private final Duration timeout;
    private final LeakGuard leakGuard;
    private long next;
    private boolean skips;
    private @Nullable Long skippedEpoch;
    private volatile @Nullable SharedBatch current;

    /** Owns the reader and the seat. */
    SharedBatches(RingReader ring, Seat seat, long first, boolean skipsEpoch, Duration timeout) {
        this.attachment = new Attachment(ring, seat);
        this.ring = ring;
        this.seat = seat;
        this.ticket = seat.ticket();
        this.next = first;
        this.skips = skipsEpoch;
        this.timeout = timeout;
        this.leakGuard = new LeakGuard(this, "consumer", toString(), attachment::close);
    }

    /** Attaches to a ring with the defaults of {@link SharedBatchesBuilder}. */
    public static SharedBatches attach(Larder larder, String name) {
        return of(larder, name).attach();
    }

    /** Returns a builder for a consumer of a ring, by the producer's name for it. */
    public static SharedBatchesBuilder of(Larder larder, String name) {
        return new SharedBatchesBuilder(new StoreLayout(larder.store()), name);
    }

    /**
     * Returns an iterator that continues at this consumer's position. Its {@code hasNext} closes the last batch and waits for the next.
     */
    @Override
    public Iterator<SharedBatch> iterator() {
        return new Batches();
    }

    private final class Batches implements Iterator<SharedBatch> {
        @Override
        public boolean hasNext() {
            SharedBatch before = current;
            if (before != null) {
                before.close();
                current = null;
            }
            while (await()) {
                if (!skips()) {
                    return true;
                }
                finish(next);
            }
            return false;
        }

        @Override
        public SharedBatch next() {
            if (!hasNext()) {
                throw new NoSuchElementException("the producer has ended: batches=" + next);
            }
            SharedBatch batch = open(next);
            current = batch;
            return batch;
        }
    }

    /** Waits for the next batch; returns false if there will be none. */
    private boolean await() {
        RingWait wait = null;
        while (true) {
            int state = ring.stateAcquire();
            boolean isThere = ring.publishedAcquire() > next;
            requireOpen();
            requireSeated();
            if (isThere) {
                return true;
            }
            wait = wait == null ? new RingWait("next batch", timeout) : wait; // usually the batch is there
            if (state == RingDescriptor.STATE_ENDED) {
                return false;
            } else if (state == RingDescriptor.STATE_FAILED) {
                throw failure(ErrorCode.UNEXPECTED, "the producer failed")
                        .with("message", ring.message())
                        .exception();
            }
            if (wait.isTimeToCheck() && ring.isProducerDead() && ring.stateAcquire() == state) {
                if (ring.publishedAcquire() > next) {
                    return true;
                }
                throw failure(ErrorCode.REFUSED, "the producer died")
                        .remedy("restart the producer and attach again; its log says why it died");
            } else if (wait.isOver()) {
                throw wait.late("the producer publishes nothing")
                        .with("ring", ring.folder().getFileName())
                        .with("batch", next)
                        .remedy("the producer is alive: check what it is doing");
            }
            wait.pause();
        }
    }

    /** Returns whether the next batch belongs to the epoch that had begun when this consumer attached. */
    private boolean skips() {
        if (!skips) {
            return false;
        }
        ByteBuffer slot = ring.slot(next);
        long epoch = slot.getLong(RingDescriptor.SLOT_EPOCH_OFFSET);
        long number = slot.getLong(RingDescriptor.SLOT_NUMBER_OFFSET);
        requireIntact(next);
        if (skippedEpoch == null) {
            skippedEpoch = epoch;
        }
        skips = number != 0 && epoch == skippedEpoch;
        return skips;
    }

    private SharedBatch open(long sequence) {
        requireIntact(sequence);
        ByteBuffer slot = ring.slot(sequence);
        SharedBatch batch = new SharedBatch(this, sequence, slot);
        List<RingArray> table = ring.geometry().arrays();
        try {
            List<SharedBatchArray> arrays = new ArrayList<>(table.size());
            for (int i = 0; i < table.size(); i++) {
                arrays.add(openArray(batch, table.get(i), slot, RingDescriptor.partOffset(i)));
            }
            batch.fill(arrays);
        } catch (IndexOutOfBoundsException | NegativeArraySizeException e) {
            requireIntact(sequence); // else the header was of another batch, half written
            throw failure(ErrorCode.CHECKSUM, "a slot of the ring is damaged")
                    .cause(e)
                    .exception();
        }
        requireIntact(sequence);
        return batch;
    }

    private static SharedBatchArray openArray(SharedBatch batch, RingArray array, ByteBuffer slot, int part) {
        long offset = slot.getLong(part + RingDescriptor.PART_DATA_OFFSET);
        long byteSize = slot.getLong(part + RingDescriptor.PART_BYTE_SIZE_OFFSET);
        long rank = slot.getLong(part + RingDescriptor.PART_RANK_OFFSET);
        if (offset < 0 || byteSize < 0 || offset > slot.capacity() - byteSize) {
            throw new IndexOutOfBoundsException("data of an array: offset " + offset + " length " + byteSize);
        }
        if (rank < 0 || rank > RingDescriptor.RANK_LIMIT) {
            throw new IndexOutOfBoundsException("rank of an array: " + rank);
        }
        long[] shape = new long[(int) rank];
        for (int i = 0; i < shape.length; i++) {
            shape[i] = slot.getLong(part + RingDescriptor.PART_SHAPE_OFFSET + i * Long.BYTES);
        }
        return new SharedBatchArray(batch, array, shape, slot.slice((int) offset, (int) byteSize));
    }

    boolean isIntact(SharedBatch batch) {
        return attachment.isOpen() && ring.isIntact(batch.sequence());
    }

    void release(SharedBatch batch) {
        if (batch.invalidate() && attachment.isOpen()) {
            requireIntact(batch.sequence());
            finish(batch.sequence());
        }
    }

    /** Releases a batch and all batches before it. */
    private void finish(long sequence) {
        next = sequence + 1;
        attachment.finish(next);
        requireSeated();
    }

    private void requireIntact(long sequence) {
        if (!ring.isIntact(sequence)) {
            requireOpen();
            requireSeated();
            throw failure(ErrorCode.REFUSED, "a batch was overwritten while it was read")
                    .with("batch", sequence)
                    .remedy("check whether something else writes to the store");
        }
    }

    private void requireSeated() {
        if (ring.isDropped(seat.number(), ticket) && attachment.isOpen()) {
            throw failure(ErrorCode.REFUSED, "the producer has dropped this consumer as too slow")
                    .with("published", ring.publishedAcquire())
                    .remedy("attach again, and give the producer more slots(…) or patience(…)");
        }
    }

    private Failure failure(ErrorCode code, String what) {
        return Failure.of(code, what).with("ring", ring.folder().getFileName()).with("batch", next);
    }

    private void requireOpen() {
        if (!attachment.isOpen()) {
            throw new IllegalStateException("SharedBatches is closed: ring=" + ring.folder());
        }
    }

    /** Closes the open batch and releases the seat. Idempotent; callable from any thread. */
    @Override
    public void close() {
        try {
            attachment.close();
        } finally {
            leakGuard.disarm();
        }
        SharedBatch open = current;
        if (open != null) {
            open.invalidate();
        }
    }

    @Override
    public String toString() {
        return "SharedBatches{" + ring.folder() + "}";
    }

    /** The files and memory of a consumer. */
    private static final class Attachment implements AutoCloseable {
        private final RingReader ring;
        private final Seat seat;
        private final AtomicBoolean open = new AtomicBoolean(true);

        Attachment(RingReader ring, Seat seat) {
            this.ring = ring;
            this.seat = seat;
        }

        boolean isOpen() {
            return open.get();
        }

        synchronized void finish(long finished) {
            if (open.get()) {
                seat.finish(finished);
            }
        }

        @Override
        public synchronized void close() {
            if (open.compareAndSet(true, false)) {
                try {
                    seat.close();
                } finally {
                    ring.close();
                }
            }
        }
    }
}
