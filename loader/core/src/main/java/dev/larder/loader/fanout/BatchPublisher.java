package dev.larder.loader.fanout;

import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import dev.larder.loader.BatchPart;
import dev.larder.loader.Epoch;
import dev.larder.loader.device.HostSlots;
import dev.larder.loader.internal.device.HostAllocator;
import dev.larder.loader.internal.device.SlotProvider;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Publishes the batches of a loader to any number of processes of this machine, so that one process gathers and transforms for
 * all: {@link SharedBatches} in Java, {@code larder.batches} in Python.
 *
 * <pre>{@code
 * try (BatchPublisher run1 = BatchPublisher.of(larder, "run1").consumers(2).open()) {
 *     for (long e = 0; e < epochs; e++) {
 *         run1.publish(loader.epoch(e));
 *     }
 * }
 * }</pre>
 *
 * <p>Consumers read batches in a ring of slots in the store. Batches are copied there once; a loader that was built {@link
 * dev.larder.loader.LoaderBuilder#into into} the {@link #slots} gathers directly into the ring. All batches have the same arrays with
 * the same dtypes; their shapes may differ. No daemon is needed while the store exists. One thread publishes; any may close.
 */
public final class BatchPublisher implements AutoCloseable {
    /** The action of a {@link BatchPublisher} when all slots hold batches that a live consumer has not read. */
    public enum SlowConsumer {
        /**
         * Waits until the publisher's timeout. Then, if other consumers make progress, the publisher drops the slow one and logs it; the next
         * step of that consumer fails with {@code REFUSED}. If no consumer makes progress, the publisher fails with {@code DEADLINE}. No
         * consumer misses a batch without an error.
         */
        BLOCK,

        /** Drops it after the publisher's patience; its next step fails with {@code REFUSED}. */
        DROP
    }

    private static final Logger LOG = Logs.of(BatchPublisher.class);

    /** The lifetime of a ring without batches, which contains only a failure: consumers check every 20 ms, and then attach. */
    private static final Duration EMPTY_RING_STAYS = Duration.ofSeconds(1);

    private final RingFolder folder;
    private final BatchPublisherBuilder.Settings settings;
    private final Seats seats;
    private @Nullable RingWriter ring;

    /** The ring's slots if a loader fills them. */
    private @Nullable RingSlots slots;

    /** The slot of the next batch, for threads that do not publish. */
    private volatile int nextSlot;

    private @Nullable LarderException failure;
    private boolean isComplete;
    private volatile boolean closing;
    private volatile @Nullable LarderException aborted;
    private boolean closed;

    /** Batches before this one may be written without another check of the consumers. */
    private long granted;

    private long claimed;

    BatchPublisher(Posix posix, RingFolder folder, BatchPublisherBuilder.Settings settings) {
        this.folder = folder;
        this.settings = settings;
        this.seats = new Seats(posix, folder.seats());
    }

    /** Returns a builder for a publisher in a store; consumers attach by its name. */
    public static BatchPublisherBuilder of(Larder larder, String name) {
        return new BatchPublisherBuilder(new StoreLayout(larder.store()), name);
    }

    /**
     * Publishes the remaining batches of an epoch. If it fails, consumers get the published batches, and, after this is closed, an
     * error with the reason.
     */
    public void publish(Epoch epoch) {
        try {
            for (Iterator<Batch> batches = epoch.iterator(); batches.hasNext(); ) {
                awaitSlotForLoader();
                publishOrClose(batches.next());
            }
            requireLiveConsumer();
        } catch (LarderException e) {
            fail(e);
            throw e;
        } catch (RuntimeException | Error e) {
            fail(unexpected(
                    Failure.of(ErrorCode.UNEXPECTED, "epoch ended early").with("epoch", epoch.number()), e));
            throw e;
        }
    }

    private static LarderException unexpected(Failure failure, Throwable e) {
        return failure.with("reason", e).cause(e).exception();
    }

    /** Fails if the last consumer died, even if the ring still has a free slot. */
    private synchronized void requireLiveConsumer() {
        RingWriter writer = ring;
        if (writer != null && !closing && seats.taken() > 0) {
            dropDead(writer, seats.behind(writer.published()));
        }
    }

    /** Publishes a batch. If that fails, returns its slot to the loader, even if batches stay open until they are closed. */
    private void publishOrClose(Batch batch) {
        try {
            publishNext(batch);
        } catch (RuntimeException | Error e) {
            batch.close();
            throw e;
        }
    }

    private synchronized void fail(LarderException e) {
        if (!closing) { // else close or abort has written the end of the ring
            failure = e;
        }
    }

    /**
     * Publishes one batch; the caller can close it afterwards. The first call creates the ring, and waits for the configured number of
     * consumers; later calls wait for a slot that no consumer needs. A call that failed may be repeated with the same batch.
     *
     * @throws LarderException NO_SPACE if the store has no space for the ring; BAD_INPUT if the batch does not fit in or is on
     *     a device; DEADLINE, which names the slow consumers
     */
    public synchronized void publish(Batch batch) {
        if (slots != null) {
            throw new IllegalStateException(
                    "a loader gathers into the slots: publish its epochs, not single batches: ring=" + name());
        }
        publishNext(batch);
    }

    private synchronized void publishNext(Batch batch) {
        requireOpen();
        try {
            requireOnHost(batch);
            RingWriter writer = ring == null ? makeRing(batch) : ring;
            writer.requireFits(batch);
            if (!isComplete) {
                awaitConsumers();
                isComplete = true;
            }
            if (slots != null) {
                slots.publish(batch);
            } else {
                awaitSlot(writer, writer.published(), writer.published() + slotsPerLook());
                writer.makeRoom(batch);
                writer.write(batch);
            }
            nextSlot = (int) (writer.published() % settings.slots());
            failure = null;
        } catch (LarderException e) {
            failure = e;
            throw e;
        } catch (RuntimeException e) {
            if (!closing) { // else it was closed, which ends the ring without a failure
                failure = unexpected(Failure.of(ErrorCode.UNEXPECTED, "batch was not published"), e);
            }
            throw e;
        }
    }

    /** If a loader fills the slots, waits until it has a free one, and gives it all slots that no consumer needs. */
    private synchronized void awaitSlotForLoader() {
        RingSlots own = slots;
        if (own != null && own.areManyHeld()) {
            requireOpen();
            RingWriter writer = Objects.requireNonNull(ring);
            long wanted = writer.published() + settings.slots();
            if (own.areAllHeld()) {
                awaitSlot(writer, own.released(), wanted);
            } else {
                tryGrant(writer, own.released() + slotsPerLook() - 1, wanted);
            }
            own.release(granted);
        }
    }

    /**
     * Returns the ring's slots, so that one loader gathers its batches there: see {@link dev.larder.loader.LoaderBuilder#into}. Afterwards,
     * publish only the epochs of that loader. This publisher owns the slots.
     */
    public HostSlots slots() {
        return new SlotProvider() {
            @Override
            public List<HostAllocator> open(List<Part> arrays) {
                return openSlots(arrays);
            }

            @Override
            public int first() {
                return nextSlot;
            }

            @Override
            public String name() {
                return BatchPublisher.this.name();
            }
        };
    }

    private synchronized List<HostAllocator> openSlots(List<SlotProvider.Part> arrays) {
        requireOpen();
        if (ring != null) {
            throw new IllegalStateException(
                    "the slots are in use; build one loader into them, before anything is published: ring=" + name());
        }
        RingWriter writer = makeRing(
                arrays.stream()
                        .map(array -> new RingArray(array.name(), array.dtype()))
                        .toList(),
                RingSlots.slotBytes(arrays),
                RingSlots.slotBytes(arrays));
        slots = new RingSlots(writer);
        claimed = settings.slots();
        granted = claimed;
        return RingSlots.allocators(writer);
    }

    private static void requireOnHost(Batch batch) {
        for (BatchPart part : batch.parts()) {
            if (part.device().isPresent()) {
                throw Failure.of(ErrorCode.BAD_INPUT, "batch is in memory of a device")
                        .with("epoch", batch.epoch())
                        .with("batch", batch.number())
                        .with("device", part.device().get())
                        .remedy("publish batches of a loader without device(…)");
            }
        }
    }

    private RingWriter makeRing(Batch batch) {
        for (BatchArray array : batch.arrays()) {
            RingWriter.requireRank(batch, array);
        }
        long needed = RingWriter.slotBytes(batch);
        return makeRing(RingWriter.arraysOf(batch), needed, RingWriter.withMore(needed));
    }

    /** Creates the ring, with {@code wanted} bytes reserved for each slot if there is space, at least {@code needed}. */
    private RingWriter makeRing(List<RingArray> arrays, long needed, long wanted) {
        boolean isFixed = settings.slotBytes() != 0;
        long limit = isFixed
                ? RingDescriptor.aligned(settings.slotBytes(), RingDescriptor.PAGE_LENGTH)
                : RingGeometry.roomFor(needed, settings.slots());
        long exact = isFixed ? limit : Math.min(RingDescriptor.aligned(needed, RingDescriptor.PAGE_LENGTH), limit);
        RingGeometry geometry = new RingGeometry(arrays, settings.slots(), folder.seats().length, limit);
        RingWriter made;
        try {
            made = makeRing(geometry, isFixed ? exact : RingWriter.roomy(wanted, limit));
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_SPACE || isFixed) {
                throw e;
            }
            made = makeRing(geometry, exact);
        }
        ring = made;
        return made;
    }

    private RingWriter makeRing(RingGeometry geometry, long reserved) {
        MappedMemory memory = folder.makeRing(geometry, reserved);
        return new RingWriter(memory, geometry, reserved, folder::reserveMore);
    }

    private void awaitConsumers() {
        RingWait wait = new RingWait("first batch", settings.timeout());
        for (int taken = seats.taken(); taken < settings.consumers(); taken = seats.taken()) {
            requireOpen();
            if (wait.isOver()) {
                throw wait.late("consumers did not attach")
                        .with("ring", name())
                        .with("wanted", settings.consumers())
                        .with("attached", taken)
                        .remedy("start them with the same store and name");
            }
            wait.pause();
        }
    }

    /**
     * Claims as many of the batches before {@code wanted} as possible; returns whether {@code batch} may be written. See {@link
     * RingDescriptor}: a consumer that attaches after the claim begins behind it, and the check after the claim sees all others. A claim
     * never passes a batch that a known consumer needs, even if that consumer has not read claimed yet. One that is not known yet may
     * begin later than it announced.
     */
    private boolean tryGrant(RingWriter writer, long batch, long wanted) {
        int count = settings.slots();
        if (seats.isOneBehind(batch - count + 1)) {
            return false;
        }
        long known = seats.leastFinishedOfKnown();
        claimed = Math.max(claimed, Math.min(wanted, Math.min(known, wanted) + count));
        writer.claim(claimed);
        long finished = seats.leastFinished();
        if (finished <= batch - count) {
            return false;
        }
        granted = Math.min(claimed, Math.min(finished, claimed) + count);
        return true;
    }

    /** Waits until a batch may be written. */
    private void awaitSlot(RingWriter writer, long batch, long wanted) {
        if (batch < granted) {
            return;
        }
        long needed = batch - settings.slots() + 1;
        RingWait wait = slotWait();
        while (!tryGrant(writer, batch, wanted)) {
            requireOpen();
            if (wait.isTimeToCheck()) {
                dropDead(writer, seats.behind(needed));
            } else if (wait.isOver()) {
                giveUp(writer, needed, wait);
                wait = slotWait();
            }
            wait.pause();
        }
    }

    /** Returns the slots that are worth a check of all seats, which costs a system call for each: a quarter of the ring. */
    private int slotsPerLook() {
        return Math.max(1, settings.slots() / 4);
    }

    private RingWait slotWait() {
        boolean blocks = settings.slowConsumer() == SlowConsumer.BLOCK;
        return new RingWait("free slot", blocks ? settings.timeout() : settings.patience());
    }

    private void dropDead(RingWriter writer, List<Integer> some) {
        List<Integer> dead = some.stream().filter(seats::isDead).toList();
        if (dead.isEmpty()) {
            return;
        }
        String consumers = describe(dead);
        dead.forEach(seat -> drop(writer, seat, "is dead"));
        if (settings.consumers() > 0 && seats.taken() == 0) {
            throw Failure.of(ErrorCode.REFUSED, "the last consumer died before it had all batches")
                    .with("ring", name())
                    .with("published", writer.published())
                    .with("consumers", consumers)
                    .remedy(
                            "find out why its process ended, then start both again from the epoch that was interrupted");
        }
    }

    private String describe(List<Integer> some) {
        return some.stream().map(seats::describe).collect(Collectors.joining(", "));
    }

    private void giveUp(RingWriter writer, long needed, RingWait wait) {
        seats.taken(); // a consumer that attached during the wait may have made progress
        dropDead(writer, seats.known()); // a dead consumer is not progress
        List<Integer> behind = seats.behind(needed);
        if (settings.slowConsumer() == SlowConsumer.DROP
                || behind.size() < seats.known().size()) {
            behind.forEach(
                    seat -> drop(writer, seat, seats.isStopped(seat) ? "is stopped by a signal" : "is too slow"));
        } else if (!behind.isEmpty()) {
            throw wait.late("consumers are not keeping up")
                    .with("ring", name())
                    .with("batch", writer.published())
                    .with("consumers", describe(behind))
                    .remedy("resume or end them, or drop slow consumers with onSlowConsumer(DROP)");
        }
    }

    private void drop(RingWriter writer, int seat, String why) {
        LOG.warn("dropped a consumer that {}: ring={} consumer={}", why, name(), seats.describe(seat));
        writer.markDropped(seat, seats.drop(seat));
    }

    /** Returns the number of published batches. */
    public synchronized long published() {
        return ring == null ? 0 : ring.published();
    }

    /** Returns the number of attached consumers, including dead ones that the publisher has not noticed yet. */
    public synchronized int consumers() {
        requireOpen();
        return seats.taken();
    }

    /** Returns the name of the ring. */
    public String name() {
        return String.valueOf(folder.path().getFileName());
    }

    private void requireOpen() {
        if (closing) {
            throw new IllegalStateException("publisher is closed: ring=" + name());
        }
    }

    /**
     * Ends the ring and removes its files. Attached consumers get the published batches, and then the end of their loop, or an error if
     * the last batch failed. Does not wait for them, except before the first batch: then consumers have a second to read the reason.
     * Idempotent; callable from any thread.
     */
    @Override
    public void close() {
        closing = true;
        synchronized (this) {
            try {
                if (!closed) {
                    closed = true;
                    end(aborted == null ? failure : aborted);
                }
            } finally {
                folder.close();
            }
        }
    }

    private void end(@Nullable LarderException reason) {
        RingWriter writer = ring == null && reason != null ? makeEmptyRing() : ring;
        if (writer == null) {
            return;
        }
        if (reason == null) {
            writer.end();
        } else {
            writer.end(reason);
        }
        if (reason != null && writer.published() == 0) {
            Deadline stays = Deadline.after(EMPTY_RING_STAYS);
            while (!stays.isOver() && !Thread.currentThread().isInterrupted()) {
                LockSupport.parkNanos(stays.remaining().toNanos()); // may return early
            }
        }
        writer.close();
        if (slots != null) {
            slots.close();
        }
    }

    /** Creates a ring without batches, for consumers that wait for the first one; returns null if that fails. */
    private @Nullable RingWriter makeEmptyRing() {
        int pageLength = RingDescriptor.PAGE_LENGTH;
        try {
            return makeRing(new RingGeometry(List.of(), 2, folder.seats().length, pageLength), pageLength);
        } catch (LarderException e) {
            LOG.debug("cannot say why there are no batches: ring={} reason={}", name(), e.getMessage());
            return null;
        }
    }

    /**
     * Closes this early: consumers get the published batches, and then an error with the reason. The publishing thread gets an {@link
     * IllegalStateException}. Callable from any thread; does nothing if this is closed.
     */
    public void abort(LarderException reason) {
        aborted = reason; // before the publishing thread can see the end and close this itself
        close();
    }

    @Override
    public String toString() {
        return "BatchPublisher{" + folder.path() + "}";
    }
}
