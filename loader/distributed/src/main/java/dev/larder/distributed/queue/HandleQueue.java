package dev.larder.distributed.queue;

import dev.larder.distributed.internal.memory.EventCount;
import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.shared.SharedArray;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A bounded queue between the threads of any number of processes. It carries handles instead of payloads: its own buffers, which circulate,
 * and references to arrays.
 *
 * <pre>{@code
 * Handle handle = queue.newHandle();
 * queue.claim(handle, timeout);                         // a producer: a free buffer
 * handle.buffer().putFloat(…);
 * queue.put(handle.describe(dtype, 256, 784), timeout);
 *
 * while (queue.take(handle, timeout)) {                 // a consumer, until every producer has finished
 *     … handle.buffer() …
 *     handle.giveBack();
 * }
 * }</pre>
 *
 * <p>A process that dies delays no other. The handles that it has put stay in the queue. The buffers that it has claimed are free again as
 * soon as a thread waits for one, within about 50 ms. The handles that it has taken are {@link #lost} and their buffers free; if the queue
 * {@linkplain HandleQueueBuilder#redeliver redelivers}, they are put again at the end, and handles arrive at least once. A stopped process
 * keeps only its own handles. A producer that dies before it {@linkplain #finish finishes} counts as finished if no other producer is left.
 *
 * <p>A wait spins for some microseconds and then sleeps in the kernel; the queue has no threads. A wait fails with DEADLINE, naming the
 * holders, with INTERRUPTED, or with REFUSED if the queue was destroyed. Thread-safe, except a {@link Handle}. Owned by the caller that
 * opened it.
 */
public final class HandleQueue implements AutoCloseable {
    /** The time to spin before yielding: the peer may need this core. */
    private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(2);

    /** The time to look before sleeping: longer than waking up takes, or two peers that answer each other would sleep each time. */
    private static final long LOOK_NS = TimeUnit.MICROSECONDS.toNanos(150);

    /** The wait for an array that has to exist. */
    private static final Duration ARRAY_PATIENCE = Duration.ofMillis(200);

    private final Regions regions;
    private final Region region;
    private final SharedMemory memory;
    private final QueueSpec spec;
    private final HandleRing ring;
    private final HandleRecord records;
    private final QueueMembers members;
    private final EventCount items;
    private final EventCount room;
    private final EventCount freed;
    private final AtomicReferenceArray<@Nullable ByteBuffer> buffers;
    private final ReceivedArrays arrays = new ReceivedArrays(this::isHeldHere);
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final AtomicBoolean finished = new AtomicBoolean();

    private HandleQueue(Regions regions, Region region) {
        this.regions = regions;
        this.region = region;
        this.memory = region.memory();
        this.spec = QueueSpec.read(region);
        this.ring = new HandleRing(memory, spec.records(), spec.capacity());
        this.records = new HandleRecord(memory, spec.records());
        this.members = new QueueMembers(region, ring, spec.redelivers());
        this.items = new EventCount(memory, QueueDescriptor.ITEMS_BELL_OFFSET);
        this.room = new EventCount(memory, QueueDescriptor.ROOM_BELL_OFFSET);
        this.freed = new EventCount(memory, QueueDescriptor.BUFFERS_BELL_OFFSET);
        this.buffers = new AtomicReferenceArray<>(spec.buffers());
    }

    /** Begins to describe a queue, as all its members do. */
    public static HandleQueueBuilder builder(Regions regions, String name) {
        return new HandleQueueBuilder(regions, name);
    }

    /** Joins an existing queue, or waits for one. */
    public static HandleQueue open(Regions regions, String name, Duration timeout) {
        return over(regions, regions.open(name, QueueDescriptor.KIND, timeout));
    }

    static HandleQueue over(Regions regions, Region region) {
        try {
            return new HandleQueue(regions, region);
        } catch (RuntimeException | Error e) {
            region.close();
            throw e;
        }
    }

    /** Returns its name. */
    public String name() {
        return region.name();
    }

    /** Creates a handle that holds nothing, for one thread to use again and again. */
    public Handle newHandle() {
        requireOpen();
        return new Handle(this, ring, records);
    }

    @SuppressWarnings("ThreadPriorityCheck") // yields only for speed
    private static boolean isWorthLooking(long startNs) {
        long lookedNs = System.nanoTime() - startNs;
        if (lookedNs < SPIN_NS) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
        return lookedNs < LOOK_NS;
    }

    /** The steps that may wait. */
    private enum Step {
        CLAIM("claim"),
        CLAIM_REFERENCE("claim"),
        PUT("put"),
        TAKE("take");

        private final String text;

        Step(String text) {
            this.text = text;
        }
    }

    /** Tries a step once. A lambda with the handle would allocate in each call. */
    private boolean tryStep(Step step, Handle handle) {
        return switch (step) {
            case CLAIM -> tryClaim(handle, 0, spec.buffers());
            case CLAIM_REFERENCE -> tryClaim(handle, spec.buffers(), spec.records());
            case PUT -> tryPut(handle.record(), handle.state());
            case TAKE -> tryTake(handle);
        };
    }

    /** Runs a step that began at {@code startNs}: spins, then sleeps. False if the queue has ended. */
    private boolean await(Step step, Handle handle, Duration timeout, long startNs) {
        do {
            if (tryStep(step, handle)) {
                return true;
            }
        } while (isWorthLooking(startNs));
        EventCount events = step == Step.TAKE ? items : step == Step.PUT ? room : freed;
        QueueWait wait = new QueueWait(this, step.text, events, Deadline.after(timeout, startNs));
        while (true) {
            int heard = events.listen();
            boolean isLast = step == Step.TAKE && isEnded(); // before looking: a producer ends after its last put
            if (tryStep(step, handle)) {
                return true;
            }
            if (isLast && isDrained()) {
                return false;
            }
            wait.sleep(heard);
        }
    }

    /** Waits for a free buffer. */
    public void claim(Handle handle, Duration timeout) {
        requireEmpty(handle);
        if (spec.buffers() == 0) {
            throw new UnsupportedOperationException("the queue has no buffers of its own: name=" + name());
        }
        await(Step.CLAIM, handle, timeout, System.nanoTime());
    }

    /** Waits for a free buffer, for a handle of its own. */
    public Handle claim(Duration timeout) {
        Handle handle = newHandle();
        claim(handle, timeout);
        return handle;
    }

    private boolean tryClaim(Handle handle, int first, int end) {
        int record = ring.claim(first, end, members.seat());
        requireUsable();
        if (record < 0) {
            return false;
        }
        if (!finished.get()) {
            members.produce();
        }
        handle.holdClaimed(record, ring.state(record));
        return true;
    }

    /** Puts a claimed buffer, which the handle no longer holds; waits while the queue is full. */
    public void put(Handle handle, Duration timeout) {
        requireOpen();
        if (!handle.isOf(this)) {
            throw new IllegalArgumentException("the handle is of another queue");
        }
        handle.requireClaimed();
        boolean isPut = false;
        try {
            isPut = await(Step.PUT, handle, timeout, System.nanoTime());
        } finally {
            if (isPut || !handle.isHeld()) {
                handle.release();
            }
        }
    }

    /**
     * Checks for the end after putting, because consumers may have seen it and left. If the handle can be taken back, no consumer has taken
     * it.
     */
    private boolean tryPut(int record, long state) {
        if (isEnded()) {
            requireUsable();
            throw ended();
        }
        long generation = QueueDescriptor.generation(state);
        boolean isPut = ring.put(record, generation);
        requireUsable();
        if (isPut) {
            if (isEnded() && ring.change(record, state, QueueDescriptor.state(QueueDescriptor.FREE, 0, generation))) {
                freed.ring();
                throw ended();
            }
            items.ring();
        }
        return isPut;
    }

    private LarderException ended() {
        return Failure.of(ErrorCode.REFUSED, "queue was ended")
                .with("name", name())
                .remedy("put before the last producer finishes");
    }

    /** Puts a reference to an array of any size; it has to stay open here until the consumer has opened it. */
    public void putArray(SharedArray array, long tag, Duration timeout) {
        putReference(HandleRecord.ARRAY, array.name(), tag, timeout, record -> {
            records.region(record, array.region().id());
            records.dtype(record, HandleRecord.DtypeText.of(array.dtype()));
            records.shape(record, array.shape().stream().mapToLong(size -> size).toArray());
            records.byteSize(record, array.byteSize());
        });
    }

    /** Puts a name for the consumer, such as that of an array in the cache; at most 356 bytes. */
    public void putName(String what, long tag, Duration timeout) {
        putReference(HandleRecord.NAME, what, tag, timeout, record -> records.byteSize(record, 0));
    }

    /** Writes the rest of a record. */
    private interface Filling {
        void fill(int record);
    }

    private void putReference(int what, String text, long tag, Duration timeout, Filling filling) {
        long startNs = System.nanoTime();
        Handle handle = newHandle();
        await(Step.CLAIM_REFERENCE, handle, timeout, startNs);
        int record = handle.record();
        boolean isPut = false;
        try {
            records.what(record, what);
            records.name(record, text);
            records.tag(record, tag);
            records.shape(record);
            filling.fill(record);
            isPut = await(Step.PUT, handle, timeout, startNs);
        } finally {
            if (!isPut) {
                handle.close();
            }
        }
    }

    /** Waits for the first handle. False if every producer has finished, or {@link #end} was called, and nothing is left. */
    public boolean take(Handle handle, Duration timeout) {
        requireEmpty(handle);
        return await(Step.TAKE, handle, timeout, System.nanoTime());
    }

    /** Waits for the first handle, with a handle object of its own; null at the end. */
    public @Nullable Handle take(Duration timeout) {
        Handle handle = newHandle();
        return take(handle, timeout) ? handle : null;
    }

    /** Takes the first handle, if there is one. */
    public boolean tryTake(Handle handle) {
        requireEmpty(handle);
        int record = ring.take(members.seat());
        requireUsable();
        if (record < 0) {
            return false;
        }
        handle.holdTaken(record, ring.state(record));
        room.ring();
        return true;
    }

    /** If the queue redelivers, handles of other consumers may come back. */
    private boolean isDrained() {
        return !reclaimFromDead() && (!spec.redelivers() || !members.isAnyOnTheWay());
    }

    /**
     * Finishes this producer, which puts nothing more. When all producers have finished, consumers drain the queue and reach its end.
     * Idempotent.
     */
    public void finish() {
        requireOpen();
        if (finished.compareAndSet(false, true)) {
            members.finish();
            if (memory.getAndAddInt(QueueDescriptor.FINISHED_OFFSET, 1) + 1 >= spec.producers()) {
                end();
            }
        }
    }

    /** Ends the queue, even if producers have not finished: nothing more can be put, and the rest can be taken. Idempotent. */
    public void end() {
        requireOpen();
        memory.compareAndSetInt(QueueDescriptor.STATE_OFFSET, 0, QueueDescriptor.STATE_ENDED);
        ringAll();
    }

    /** Ends all waits with REFUSED, and frees the name for another queue. Idempotent. */
    public void destroy() {
        requireOpen();
        memory.putIntVolatile(QueueDescriptor.STATE_OFFSET, QueueDescriptor.STATE_DESTROYED);
        ringAll();
        regions.remove(region);
    }

    /** Frees or returns the handles of dead members, and returns whether there were any. */
    boolean reclaimFromDead() {
        boolean isAny = members.reclaimFromDead();
        if (!isEnded() && members.isWithoutProducers(spec.producers())) {
            isAny |= memory.compareAndSetInt(QueueDescriptor.STATE_OFFSET, 0, QueueDescriptor.STATE_ENDED);
        }
        if (isAny) {
            ringAll();
        }
        return isAny;
    }

    /** Adds the holders to the failure of a wait. */
    void describe(Failure failure) {
        failure.with("queued", ring.size())
                .with("claimedByPids", members.held(QueueDescriptor.CLAIMED))
                .with("takenByPids", members.held(QueueDescriptor.TAKEN))
                .with("finished", memory.getIntVolatile(QueueDescriptor.FINISHED_OFFSET))
                .with("producers", spec.producers());
    }

    private void ringAll() {
        items.ring();
        room.ring();
        freed.ring();
    }

    /** Returns the approximate number of handles in it. */
    public long size() {
        requireOpen();
        return ring.size();
    }

    /** Returns the number of handles that dead consumers had taken and not given back, since the queue was created. */
    public long lost() {
        requireOpen();
        reclaimFromDead();
        return memory.getLongVolatile(QueueDescriptor.LOST_OFFSET);
    }

    private boolean isEnded() {
        return isEnded(memory, spec);
    }

    private static boolean isEnded(SharedMemory memory, QueueSpec spec) {
        return memory.getIntVolatile(QueueDescriptor.STATE_OFFSET) != 0
                || memory.getIntVolatile(QueueDescriptor.FINISHED_OFFSET) >= spec.producers();
    }

    /** Returns whether a queue is over: destroyed, or ended, empty and without members. */
    static boolean isOver(Region region) {
        SharedMemory memory = region.memory();
        if (memory.getIntVolatile(QueueDescriptor.STATE_OFFSET) == QueueDescriptor.STATE_DESTROYED) {
            return true;
        }
        QueueSpec spec = QueueSpec.read(region);
        return isEnded(memory, spec)
                && new HandleRing(memory, spec.records(), spec.capacity()).isEmpty(spec.redelivers())
                && IntStream.range(0, QueueDescriptor.SEATS).noneMatch(region::isSeatTaken);
    }

    boolean isOpen() {
        return open.get() && !memory.isClosed();
    }

    void requireOpen() {
        if (!isOpen()) {
            throw new IllegalStateException("queue is closed: name=" + region.name());
        }
    }

    private void requireUsable() {
        requireOpen();
        if (memory.getIntVolatile(QueueDescriptor.STATE_OFFSET) == QueueDescriptor.STATE_DESTROYED) {
            throw Failure.of(ErrorCode.REFUSED, "queue was destroyed")
                    .with("name", name())
                    .exception();
        }
    }

    private void requireEmpty(Handle handle) {
        requireOpen();
        if (!handle.isOf(this)) {
            throw new IllegalArgumentException("the handle is of another queue");
        }
        if (!handle.isEmpty()) {
            throw new IllegalStateException("the handle holds something already: " + handle);
        }
    }

    void ringForBuffers() {
        freed.ring();
    }

    /** Wraps the buffer of a record; false if the record has none. */
    boolean wrapBuffer(int record, UnsafeBuffer buffer) {
        if (record >= spec.buffers()) {
            return false;
        }
        ByteBuffer own = buffers.get(record);
        if (own == null) {
            own = memory.buffer(spec.bufferOffset(record), spec.bufferByteSize());
            buffers.set(record, own);
        }
        buffer.wrap(own);
        return true;
    }

    SharedArray array(String arrayName, long id) {
        SharedArray array = arrays.find(id);
        if (array == null) {
            array = arrays.keep(id, openArray(arrayName, id));
        }
        requireOpen(); // the queue may have been closed meanwhile
        return array;
    }

    /** Returns whether a handle of this process refers to an array. */
    private boolean isHeldHere(long id) {
        return IntStream.range(spec.buffers(), spec.records()).anyMatch(record -> {
            long state = ring.state(record);
            return QueueDescriptor.kind(state) == QueueDescriptor.TAKEN
                    && QueueDescriptor.seat(state) == members.seat()
                    && records.region(record) == id;
        });
    }

    private SharedArray openArray(String arrayName, long id) {
        SharedArray array;
        try {
            array = SharedArray.open(regions, arrayName, ARRAY_PATIENCE);
        } catch (LarderException e) {
            throw e.code() == ErrorCode.DEADLINE ? noArray(arrayName, "no process has it open") : e;
        }
        if (array.region().id() != id) {
            array.close();
            throw noArray(arrayName, "another array has its name");
        }
        return array;
    }

    private LarderException noArray(String arrayName, String reason) {
        return Failure.of(ErrorCode.NOT_FOUND, "the array that was put no longer exists")
                .with("name", arrayName)
                .with("reason", reason)
                .with("queue", name())
                .remedy("keep it open in the process that put it until the other process has opened it");
    }

    @Override
    public String toString() {
        return "HandleQueue{" + region.name() + " " + spec + "}";
    }

    /**
     * Leaves the queue like a dead member: others free its handles. This process does not, because its threads may write into a buffer
     * until the region is closed. Idempotent.
     */
    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            arrays.close();
            region.close();
        }
    }
}
