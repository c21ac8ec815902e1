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
 * Publishes the batches of a loader, so that any number of processes of this machine train on what one has gathered and
 * transformed: {@link SharedBatches} in Java, {@code larder.batches} in Python.
 *
 * <pre>{@code
 * try (BatchPublisher run1 = BatchPublisher.of(larder, "run1").consumers(2).open()) {
 *     for (long e = 0; e < epochs; e++) {
 *         run1.publish(loader.epoch(e));
 *     }
 * }
 * }</pre>
 *
 * <p>Consumers read batches in a ring of slots in the store. Batches are copied there once; those of a loader that was built
 * {@link dev.larder.loader.LoaderBuilder#into into} the {@link #slots} lie there already. All batches have the same arrays with
 * the same dtypes; their shapes may differ. No daemon is needed while the store exists. One thread publishes; any may close.
 */
public final class BatchPublisher implements AutoCloseable {
    /** What a {@link BatchPublisher} does about a live consumer that is too slow, once all slots hold batches it has not read. */
    public enum SlowConsumer {
        /**
         * Waits for it until the publisher's timeout has passed. Then, where other consumers get on, it goes on without the slow one,
         * says so in the log, and that one's next step fails with {@code REFUSED}; where none gets on, it fails with {@code DEADLINE}.
         * Nobody misses a batch unsaid.
         */
        BLOCK,

        /** Goes on without it once the publisher's patience is over; its next step fails with {@code REFUSED}. */
        DROP
    }

    private static final Logger LOG = Logs.of(BatchPublisher.class);

    /** How many looks at the consumers there are for every time around the ring. */
    private static final int LOOKS_PER_ROUND = 4;

    /** How long a ring stays that only says why there are no batches: consumers look every 20 ms, and then have to attach. */
    private static final Duration EMPTY_RING_STAYS = Duration.ofSeconds(1);

    private final RingFolder folder;
    private final BatchPublisherBuilder.Settings settings;
    private final Seats seats;
    private @Nullable RingWriter ring;

    /** The ring's slots where a loader has them. */
    private @Nullable RingSlots slots;

    /** The slot that the next batch belongs in; for threads that do not publish. */
    private volatile int nextSlot;

    private @Nullable LarderException failure;
    private boolean isComplete;
    private volatile boolean closing;
    private volatile @Nullable LarderException aborted;
    private boolean closed;

    /** The batches before this one may be written without another look at the consumers. */
    private long granted;

    private long claimed;

    BatchPublisher(Posix posix, RingFolder folder, BatchPublisherBuilder.Settings settings) {
        this.folder = folder;
        this.settings = settings;
        this.seats = new Seats(posix, folder.seats());
    }

    /** Begins to describe a publisher in a store; the name is what consumers ask for. */
    public static BatchPublisherBuilder of(Larder larder, String name) {
        return new BatchPublisherBuilder(new StoreLayout(larder.store()), name);
    }

    /**
     * Publishes what is left of an epoch. Where that fails, consumers get what was published, and then an error with the reason
     * when this is closed.
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

    /** Publishes a batch; where that fails, its slot is the loader's again, also if batches stay open until they are closed. */
    private void publishOrClose(Batch batch) {
        try {
            publishNext(batch);
        } catch (RuntimeException | Error e) {
            batch.close();
            throw e;
        }
    }

    private synchronized void fail(LarderException e) {
        if (!closing) { // else it was closed meanwhile, and whoever did so has said how the ring ends
            failure = e;
        }
    }

    /**
     * Publishes one batch, which the caller can close then. The first one makes the ring, and waits for as many consumers as were
     * asked for; later ones wait for a slot that no consumer needs. May be called again with a batch that failed.
     *
     * @throws LarderException NO_SPACE where the store has no room for the ring; BAD_INPUT where the batch does not fit in or is on
     *     a device; DEADLINE with the consumers that were waited for
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
                awaitSlot(
                        writer,
                        writer.published(),
                        writer.published() + Math.max(1, settings.slots() / LOOKS_PER_ROUND));
                writer.makeRoom(batch);
                writer.write(batch);
            }
            nextSlot = (int) (writer.published() % settings.slots());
            failure = null;
        } catch (LarderException e) {
            failure = e;
            throw e;
        } catch (RuntimeException e) {
            if (!closing) { // else it was closed meanwhile, which ends the ring well
                failure = unexpected(Failure.of(ErrorCode.UNEXPECTED, "batch was not published"), e);
            }
            throw e;
        }
    }

    /** Sees that the loader which has the slots, if there is one, has one to fill: those that consumers no longer need. */
    private synchronized void awaitSlotForLoader() {
        RingSlots own = slots;
        if (own != null && (own.areAllHeld() || own.isWorthLooking(LOOKS_PER_ROUND))) {
            requireOpen();
            RingWriter writer = Objects.requireNonNull(ring);
            long wanted = writer.published() + settings.slots();
            if (own.areAllHeld()) {
                awaitSlot(writer, own.released(), wanted);
            } else {
                tryGrant(writer, own.released(), wanted);
            }
            own.release(granted);
        }
    }

    /**
     * Returns the ring's slots, for one loader to gather its batches there: see {@link dev.larder.loader.LoaderBuilder#into}. From then on
     * publish what that loader makes, epoch by epoch, and nothing else. The slots stay this publisher's.
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

    /** Makes the ring for batches that need so many bytes, or with luck get as many as are wanted. */
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
     * Claims the batches before {@code wanted}, as far as that goes, and tells whether this one may be written. See
     * {@link RingDescriptor}: whoever attaches after the claim begins behind it, all others are seen in the look after it. A claim never
     * passes what a consumer that is known still needs: one that has just taken its seat may be about to read it.
     */
    private boolean tryGrant(RingWriter writer, long batch, long wanted) {
        int count = settings.slots();
        long known = seats.leastFinished();
        if (known <= batch - count) {
            return false;
        }
        claimed = Math.max(claimed, Math.min(wanted, Math.min(known, wanted) + count));
        writer.claim(claimed);
        long finished = seats.leastFinished();
        if (finished <= batch - count) {
            return false;
        }
        granted = Math.min(claimed, Math.min(finished, claimed) + count);
        return true;
    }

    /** Waits until a batch may be written, and so perhaps others after it. */
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
                    .remedy("find out why its process ended, then start both again from the epoch that was under way");
        }
    }

    private String describe(List<Integer> some) {
        return some.stream().map(seats::describe).collect(Collectors.joining(", "));
    }

    private void giveUp(RingWriter writer, long needed, RingWait wait) {
        dropDead(writer, seats.known()); // one that died ahead of the others is none that gets on
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

    /** Returns how many batches were published so far. */
    public synchronized long published() {
        return ring == null ? 0 : ring.published();
    }

    /** Returns how many consumers are attached at this moment, the dead included that nobody has had to wait for yet. */
    public synchronized int consumers() {
        requireOpen();
        return seats.taken();
    }

    /** Returns what consumers ask for. */
    public String name() {
        return String.valueOf(folder.path().getFileName());
    }

    private void requireOpen() {
        if (closing) {
            throw new IllegalStateException("publisher is closed: ring=" + name());
        }
    }

    /**
     * Ends the ring and removes its files: consumers that are attached get what was published, and then the end of their loop, or
     * an error where the last thing to be published failed. Does not wait for them, but where there was no first batch: those
     * who wait for it have a second to find out why. Idempotent, from any thread.
     */
    @Override
    public void close() {
        closing = true;
        synchronized (this) {
            if (!closed) {
                closed = true;
                end(aborted == null ? failure : aborted);
            }
            folder.close();
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
                LockSupport.parkNanos(stays.remaining().toNanos()); // which may end early, for nothing
            }
        }
        writer.close();
        if (slots != null) {
            slots.close();
        }
    }

    /** Makes a ring that will have no batches, for those who wait for the first one; null where not even that can be made. */
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
     * Closes this before all was published: consumers get what was published, and then an error with the reason. The thread that
     * publishes gets an {@link IllegalStateException}. From any thread; does nothing where this is closed.
     */
    public void abort(LarderException reason) {
        aborted = reason; // before the thread that publishes can see that it is over, and close this itself
        close();
    }

    @Override
    public String toString() {
        return "BatchPublisher{" + folder.path() + "}";
    }
}
