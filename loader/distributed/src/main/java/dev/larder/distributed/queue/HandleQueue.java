package dev.larder.distributed.queue;

import dev.larder.distributed.region.Bell;
import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.region.SharedMemory;
import dev.larder.distributed.shared.SharedArray;
import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
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
 * is stopped keeps what it holds and nothing else.
 *
 * <p>Waiting is spinning for some microseconds, then sleeping in the kernel; no threads work behind it. Each wait ends with DEADLINE,
 * which says who holds what, with INTERRUPTED, or with REFUSED where the queue was destroyed. Thread-safe; a {@link Handle} is not. Owned by
 * whoever opened it.
 */
public final class HandleQueue implements AutoCloseable {
    /** So long one keeps the processor to oneself while looking: whom one waits for may be next on it. */
    private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(2);

    /** So long one looks before sleeping: longer than waking up takes, or two who answer each other would sleep each time. */
    private static final long LOOK_NS = TimeUnit.MICROSECONDS.toNanos(150);

    private final Regions regions;
    private final Region region;
    private final SharedMemory memory;
    private final QueueSpec spec;
    private final HandleRing ring;
    private final HandleRecord records;
    private final QueueMembers members;
    private final Bell items;
    private final Bell room;
    private final Bell freed;
    private final AtomicReferenceArray<@Nullable ByteBuffer> buffers;
    private final Map<Long, SharedArray> arrays = new ConcurrentHashMap<>();
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final AtomicBoolean finished = new AtomicBoolean();

    private HandleQueue(Regions regions, Region region) {
        this.regions = regions;
        this.region = region;
        this.memory = region.memory();
        this.spec = QueueSpec.read(memory);
        this.ring = new HandleRing(memory, spec.records(), spec.capacity());
        this.records = new HandleRecord(memory, spec.records());
        this.members = new QueueMembers(region, ring, spec.redelivers());
        this.items = new Bell(memory, QueueDescriptor.ITEMS_BELL_OFFSET);
        this.room = new Bell(memory, QueueDescriptor.ROOM_BELL_OFFSET);
        this.freed = new Bell(memory, QueueDescriptor.BUFFERS_BELL_OFFSET);
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

    /** Waits for a free buffer. */
    public void claim(Handle handle, Duration timeout) {
        requireEmpty(handle);
        long startNs = System.nanoTime();
        do {
            if (tryClaim(handle)) {
                return;
            }
        } while (isWorthLooking(startNs));
        QueueWait wait = new QueueWait(this, "claim", freed, timeout);
        while (true) {
            int heard = freed.listen();
            if (tryClaim(handle)) {
                return;
            }
            wait.sleep(heard);
        }
    }

    /** Waits for a free buffer, for a handle of its own. */
    public Handle claim(Duration timeout) {
        Handle handle = newHandle();
        claim(handle, timeout);
        return handle;
    }

    private boolean tryClaim(Handle handle) {
        int record = ring.claim(0, spec.buffers(), members.seat());
        requireUsable();
        if (record < 0) {
            return false;
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
        int record = handle.requireClaimed();
        awaitRoom(record, handle.generation(), timeout);
        handle.release();
    }

    private void awaitRoom(int record, long generation, Duration timeout) {
        long startNs = System.nanoTime();
        do {
            if (tryPut(record, generation)) {
                return;
            }
        } while (isWorthLooking(startNs));
        QueueWait wait = new QueueWait(this, "put", room, timeout);
        while (true) {
            int heard = room.listen();
            if (tryPut(record, generation)) {
                return;
            }
            wait.sleep(heard);
        }
    }

    private boolean tryPut(int record, long generation) {
        if (isEnded()) {
            requireUsable();
            throw Failure.of(ErrorCode.REFUSED, "queue was ended")
                    .with("name", name())
                    .remedy("put before the last producer finishes");
        }
        boolean isPut = ring.put(record, generation);
        requireUsable();
        if (isPut) {
            items.ring();
        }
        return isPut;
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
        requireOpen();
        int record = claimReference(timeout);
        long state = ring.state(record);
        long generation = QueueDescriptor.generation(state);
        boolean isPut = false;
        try {
            records.what(record, what);
            records.name(record, text);
            records.tag(record, tag);
            records.shape(record);
            records.dtype(record, Handle.BYTES_TEXT);
            filling.fill(record);
            awaitRoom(record, generation, timeout);
            isPut = true;
        } finally {
            if (!isPut) {
                ring.change(record, state, QueueDescriptor.state(QueueDescriptor.FREE, 0, generation));
            }
        }
    }

    private int claimReference(Duration timeout) {
        int record = ring.claim(spec.buffers(), spec.records(), members.seat());
        if (record >= 0) {
            return record;
        }
        QueueWait wait = new QueueWait(this, "claim", freed, timeout);
        while (true) {
            int heard = freed.listen();
            record = ring.claim(spec.buffers(), spec.records(), members.seat());
            requireUsable();
            if (record >= 0) {
                return record;
            }
            wait.sleep(heard);
        }
    }

    /** Waits for what was put first. False where every producer has finished, or {@link #end} was called, and nothing is left. */
    public boolean take(Handle handle, Duration timeout) {
        requireEmpty(handle);
        long startNs = System.nanoTime();
        do {
            if (tryTake(handle)) {
                return true;
            }
        } while (isWorthLooking(startNs));
        QueueWait wait = new QueueWait(this, "take", items, timeout);
        while (true) {
            int heard = items.listen();
            boolean isEnded = isEnded(); // before looking: who ends has put everything
            if (tryTake(handle)) {
                return true;
            }
            if (isEnded && isDrained()) {
                return false;
            }
            wait.sleep(heard);
        }
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
        return !reclaimFromDead() && (!spec.redelivers() || !members.isAnyTakenByOthers());
    }

    /** Says that this producer puts nothing any more. Once all have said so, consumers drain the queue and see its end. Idempotent. */
    public void finish() {
        requireOpen();
        if (finished.compareAndSet(false, true)
                && memory.getAndAddInt(QueueDescriptor.FINISHED_OFFSET, 1) + 1 >= spec.producers()) {
            end();
        }
    }

    /** Ends the queue for all, whoever has finished: nothing can be put any more, what was put can be taken. Idempotent. */
    public void end() {
        requireOpen();
        memory.compareAndSetInt(QueueDescriptor.STATE_OFFSET, 0, QueueDescriptor.STATE_ENDED);
        ringAll();
    }

    /** Ends all waiting for good, with REFUSED, and takes its name away: another queue can have it. */
    public void destroy() {
        requireOpen();
        memory.putIntVolatile(QueueDescriptor.STATE_OFFSET, QueueDescriptor.STATE_DESTROYED);
        ringAll();
        regions.remove(name());
    }

    /** Frees or returns what dead members held, and tells whether there was anything. */
    boolean reclaimFromDead() {
        boolean isAny = members.reclaimFromDead();
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
        return memory.getIntVolatile(QueueDescriptor.STATE_OFFSET) != 0
                || memory.getIntVolatile(QueueDescriptor.FINISHED_OFFSET) >= spec.producers();
    }

    boolean isOpen() {
        return open.get();
    }

    void requireOpen() {
        if (!open.get()) {
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
        SharedArray array = arrays.computeIfAbsent(id, key -> openArray(arrayName, key));
        if (!open.get()) { // closed meanwhile
            array.close();
            throw new IllegalStateException("queue is closed: name=" + region.name());
        }
        return array;
    }

    private SharedArray openArray(String arrayName, long id) {
        SharedArray array = SharedArray.open(regions, arrayName);
        if (array.region().id() != id) {
            array.close();
            throw Failure.of(ErrorCode.NOT_FOUND, "the array that was put is there no more; another has its name")
                    .with("name", arrayName)
                    .with("queue", name())
                    .remedy("keep it open where it was put until it is open where it is taken");
        }
        return array;
    }

    @Override
    public String toString() {
        return "HandleQueue{" + region.name() + " " + spec + "}";
    }

    /** Leaves: what it has claimed is free, what it has taken as if it had died. Idempotent. */
    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            members.reclaim(members.seat());
            ringAll();
            arrays.values().forEach(SharedArray::close);
            region.close();
        }
    }
}
