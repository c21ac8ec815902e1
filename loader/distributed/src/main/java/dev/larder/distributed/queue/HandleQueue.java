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
 * A bounded queue between the threads of any number of processes that carries handles, never payloads: its own buffers, which go round,
 * and references to arrays that lie elsewhere.
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
 * <p>A process that dies keeps nobody waiting, whatever it was doing. What it had put stays in the queue; the buffers that it had
 * claimed are free again as soon as somebody waits for one, within some 50 ms; what it had taken is {@link #lost}, its buffers
 * free, or where the queue {@linkplain HandleQueueBuilder#redeliver redelivers}, put again at the end: then handles come at least once. One that
 * is stopped keeps what it holds and nothing else. A producer that is gone before it {@linkplain #finish finished} counts as finished once
 * no other is left of those that have begun to claim.
 *
 * <p>Waiting is spinning for some microseconds, then sleeping in the kernel; no threads work behind it. Each wait ends with DEADLINE,
 * which says who holds what, with INTERRUPTED, or with REFUSED where the queue was destroyed. Thread-safe; a {@link Handle} is not. Owned by
 * whoever opened it.
 */
public final class HandleQueue implements AutoCloseable {
    /** How long to spin before yielding: the peer may need this core. */
    private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(2);

    /** So long one looks before sleeping: longer than waking up takes, or two who answer each other would sleep each time. */
    private static final long LOOK_NS = TimeUnit.MICROSECONDS.toNanos(150);

    /** So long one looks for an array that has to be there. */
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

    /** Starts to describe a queue, which all its members describe alike. */
    public static HandleQueueBuilder builder(Regions regions, String name) {
        return new HandleQueueBuilder(regions, name);
    }

    /** Becomes a member of a queue that somebody has made, or is making. */
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

    /** Makes a handle that holds nothing yet, for one thread to use again and again. */
    public Handle newHandle() {
        requireOpen();
        return new Handle(this, ring, records);
    }

    @SuppressWarnings("ThreadPriorityCheck") // yields for speed alone
    private static boolean isWorthLooking(long startNs) {
        long lookedNs = System.nanoTime() - startNs;
        if (lookedNs < SPIN_NS) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
        return lookedNs < LOOK_NS;
    }

    /** What a handle may have to wait for. */
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

    /** Tries a step once. A switch, because a function that knows the handle would be an allocation at every call. */
    private boolean tryStep(Step step, Handle handle) {
        return switch (step) {
            case CLAIM -> tryClaim(handle, 0, spec.buffers());
            case CLAIM_REFERENCE -> tryClaim(handle, spec.buffers(), spec.records());
            case PUT -> tryPut(handle.record(), handle.state());
            case TAKE -> tryTake(handle);
        };
    }

    /** Does a step that began at {@code startNs}: spins, then sleeps. False where there will never be anything to take. */
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
            boolean isLast = step == Step.TAKE && isEnded(); // before looking: who ends has put everything
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

    /** Puts a buffer that was claimed, which the handle does not hold any more then; waits while the queue is full. */
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

    /** Looks for the end after putting too: who takes may have seen it and gone. What it can still take back, nobody has taken. */
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

    /** Puts a reference to an array, whatever its size; it has to stay open here until the consumer has it open. */
    public void putArray(SharedArray array, long tag, Duration timeout) {
        putReference(HandleRecord.ARRAY, array.name(), tag, timeout, record -> {
            records.region(record, array.region().id());
            records.dtype(record, HandleRecord.DtypeText.of(array.dtype()));
            records.shape(record, array.shape().stream().mapToLong(size -> size).toArray());
            records.byteSize(record, array.byteSize());
        });
    }

    /** Puts a name that the consumer understands, such as that of an array in the cache; at most 356 bytes. */
    public void putName(String what, long tag, Duration timeout) {
        putReference(HandleRecord.NAME, what, tag, timeout, record -> records.byteSize(record, 0));
    }

    /** What writes the rest of a record. */
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

    /** Waits for what was put first. False where every producer has finished, or {@link #end} was called, and nothing is left. */
    public boolean take(Handle handle, Duration timeout) {
        requireEmpty(handle);
        return await(Step.TAKE, handle, timeout, System.nanoTime());
    }

    /** Waits for what was put first, for a handle of its own; null at the end. */
    public @Nullable Handle take(Duration timeout) {
        Handle handle = newHandle();
        return take(handle, timeout) ? handle : null;
    }

    /** Takes what was put first, where there is something. */
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

    /** Where handles are redelivered, those that others work on may still come back. */
    private boolean isDrained() {
        return !reclaimFromDead() && (!spec.redelivers() || !members.isAnyOnTheWay());
    }

    /** Says that this producer puts nothing any more. Once all have said so, consumers drain the queue and see its end. Idempotent. */
    public void finish() {
        requireOpen();
        if (finished.compareAndSet(false, true)) {
            members.finish();
            if (memory.getAndAddInt(QueueDescriptor.FINISHED_OFFSET, 1) + 1 >= spec.producers()) {
                end();
            }
        }
    }

    /** Ends the queue for all, whoever has finished: nothing can be put any more, what was put can be taken. Idempotent. */
    public void end() {
        requireOpen();
        memory.compareAndSetInt(QueueDescriptor.STATE_OFFSET, 0, QueueDescriptor.STATE_ENDED);
        ringAll();
    }

    /** Ends all waiting for good, with REFUSED, and takes its name away: another queue can have it, and keeps it. Idempotent. */
    public void destroy() {
        requireOpen();
        memory.putIntVolatile(QueueDescriptor.STATE_OFFSET, QueueDescriptor.STATE_DESTROYED);
        ringAll();
        regions.remove(region);
    }

    /** Frees or returns what dead members held, and tells whether there was anything. */
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

    /** Says who holds what, for those who have waited in vain. */
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

    /** Returns how many handles lie in it, about. */
    public long size() {
        requireOpen();
        return ring.size();
    }

    /** Returns how many handles were taken by consumers that died before they gave them back, since the queue was made. */
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

    /** Tells whether a queue is of no use to anybody: destroyed, or ended with nothing in it and no member. */
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

    /** Lets a buffer of one's own be over that of a record; false where the record has none. */
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
        requireOpen(); // it may have been closed meanwhile
        return array;
    }

    /** Tells whether a handle of this process stands for an array. */
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
     * Leaves, as if this member had died: others free what it holds as soon as they look. Not this one, whose threads may still write
     * into a buffer until the region is closed. Idempotent.
     */
    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            arrays.close();
            region.close();
        }
    }
}
