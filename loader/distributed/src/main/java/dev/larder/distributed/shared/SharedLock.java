package dev.larder.distributed.shared;

import dev.larder.distributed.internal.memory.EventCount;
import dev.larder.distributed.internal.memory.Interrupts;
import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.distributed.region.Region;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A lock of one writer or many readers, among the threads of all processes that have a region. The death of a holder releases it. After a
 * writer, {@link Hold#wasAbandoned} reports the death to the next holders, which repair the data.
 *
 * <pre>{@code
 * try (SharedLock.Hold hold = array.lock().writeLock(Duration.ofSeconds(5))) {
 *     if (hold.wasAbandoned()) { … make the data whole …; hold.markRepaired(); }
 *     …
 * }
 * }</pre>
 *
 * <p>The kernel keeps the lock ({@link LockDescriptor}), so a death at any instant releases it. A thread that finds it taken waits behind a
 * gate, which readers and writers pass one at a time, so that neither starve. Without waiting threads, a free lock costs one system call.
 * A process that is stopped keeps the lock if it holds it, and the deadlines of the others name its pid. If it only waits, the others pass
 * it after a tenth of a second. A thread cannot take the lock twice, not even for reading. Thread-safe.
 */
public final class SharedLock {
    /** The time between looks for a dead holder, because the kernel reports no deaths. */
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(20);

    /** The time without a look of the thread at the gate until others take a free lock past it. */
    private static final long STALLED_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final long PID = ProcessHandle.current().pid();

    private final Region region;
    private final SharedMemory memory;
    private final long offset;
    private final int seat;
    private final EventCount lockEvents;
    private final EventCount gateEvents;
    private final Map<Thread, Hold> holds = new ConcurrentHashMap<>();
    private volatile Beat seen;

    /** Uses {@link LockDescriptor#LENGTH} bytes, zeros at first, and {@link LockDescriptor#SEATS} seats of a region. */
    SharedLock(Region region, long offset, int seat) {
        this.region = region;
        this.memory = region.memory();
        this.offset = offset;
        this.seat = seat;
        this.lockEvents = new EventCount(memory, offset + LockDescriptor.LOCK_BELL_OFFSET);
        this.gateEvents = new EventCount(memory, offset + LockDescriptor.GATE_BELL_OFFSET);
        this.seen = new Beat(beat(), System.nanoTime());
    }

    /** The count of looks of the thread at the gate, and the time of its last change. */
    private record Beat(long count, long atNs) {}

    /** Takes the lock for reading. Fails with DEADLINE, which names the holder, and with INTERRUPTED. */
    public Hold readLock(Duration timeout) {
        return await(false, timeout);
    }

    /** Takes the lock for writing. Fails with DEADLINE, which names the holders, and with INTERRUPTED. */
    public Hold writeLock(Duration timeout) {
        return await(true, timeout);
    }

    /** Takes the lock for reading if no writer has it and no thread waits for it; else null. A stopped thread that waits does not count. */
    public @Nullable Hold tryReadLock() {
        requireNotHeld();
        return isAnybodyWaiting() && !isNextStalled() ? null : tryTake(false);
    }

    /** Takes the lock for writing if it is free; else null. */
    public @Nullable Hold tryWriteLock() {
        requireNotHeld();
        return tryTake(true);
    }

    private Hold await(boolean writes, Duration timeout) {
        Hold hold = awaitUntil(writes, Deadline.after(timeout));
        if (hold == null) {
            throw late(writes, timeout);
        }
        return hold;
    }

    /** Takes the lock for reading; null after the deadline. */
    @Nullable
    Hold readLockUntil(Deadline deadline) {
        return awaitUntil(false, deadline);
    }

    private @Nullable Hold awaitUntil(boolean writes, Deadline deadline) {
        requireNotHeld();
        if (!isAnybodyWaiting()) {
            Hold hold = tryTake(writes);
            if (hold != null) {
                return hold;
            }
        }
        while (!region.tryTakeSeat(seat + 1)) {
            int heard = gateEvents.listen();
            if (region.tryTakeSeat(seat + 1)) {
                break;
            }
            Hold hold = isNextStalled() ? tryTake(writes) : null;
            if (hold != null) {
                return hold;
            }
            if (!sleep(gateEvents, heard, deadline)) {
                return tryTake(writes);
            }
        }
        try {
            memory.putLongVolatile(offset + LockDescriptor.WAITER_OFFSET, PID);
            return awaitBehindGate(writes, deadline);
        } finally {
            memory.putLongVolatile(offset + LockDescriptor.WAITER_OFFSET, 0);
            region.leaveSeat(seat + 1);
            gateEvents.ring();
        }
    }

    /** Returns whether a thread is at the gate. The pid of a dead one stays, so only the seat counts. */
    private boolean isAnybodyWaiting() {
        return memory.getLongVolatile(offset + LockDescriptor.WAITER_OFFSET) != 0 && region.isSeatTaken(seat + 1);
    }

    /**
     * Returns whether the thread at the gate has not looked at the lock for a while: it is stopped, and must not keep others from a free
     * lock. False at the first call.
     */
    private boolean isNextStalled() {
        long count = beat();
        long nowNs = System.nanoTime();
        Beat before = seen;
        if (before.count() != count) {
            seen = new Beat(count, nowNs);
            return false;
        }
        return nowNs - before.atNs() > STALLED_NS;
    }

    private long beat() {
        return memory.getLongVolatile(offset + LockDescriptor.BEAT_OFFSET);
    }

    private @Nullable Hold awaitBehindGate(boolean writes, Deadline deadline) {
        while (true) {
            memory.putLongVolatile(offset + LockDescriptor.BEAT_OFFSET, beat() + 1);
            int heard = lockEvents.listen();
            Hold hold = tryTake(writes);
            if (hold != null || !sleep(lockEvents, heard, deadline)) {
                return hold;
            }
        }
    }

    /** Waits at the gate; false if the deadline is over. */
    private boolean sleep(EventCount events, int heard, Deadline deadline) {
        Interrupts.requireNone("lock", region.name());
        long leftNs = deadline.remainingNanos();
        if (leftNs > 0) {
            events.sleep(heard, Math.min(leftNs, LOOK_NS));
        }
        return leftNs > 0;
    }

    private @Nullable Hold tryTake(boolean writes) {
        if (!(writes ? region.tryTakeSeat(seat) : region.tryShareSeat(seat))) {
            return null;
        }
        Hold hold = new Hold(Thread.currentThread(), writes, writes ? -1 : noteReader());
        if (writes) {
            // A pid here is that of a dead writer. It is moved before it is overwritten, so that it is not lost if this
            // writer is killed between these lines. Its own pid is there before it changes the data.
            long dead = memory.getLongVolatile(offset + LockDescriptor.WRITER_OFFSET);
            if (dead != 0) {
                memory.putLongVolatile(offset + LockDescriptor.ABANDONED_BY_OFFSET, dead);
            }
            memory.putLongVolatile(offset + LockDescriptor.WRITER_OFFSET, PID);
        }
        holds.put(hold.thread, hold);
        return hold;
    }

    /** Returns the place of the pid of this reader. If all places are taken, perhaps by dead readers, one is overwritten. */
    private int noteReader() {
        int first = (int) (PID % LockDescriptor.READERS);
        for (int i = 0; i < LockDescriptor.READERS; i++) {
            int place = (first + i) % LockDescriptor.READERS;
            if (memory.compareAndSetLong(readerOffset(place), 0, PID)) {
                return place;
            }
        }
        memory.putLongVolatile(readerOffset(first), PID);
        return first;
    }

    private long readerOffset(int place) {
        return offset + LockDescriptor.READERS_OFFSET + (long) place * Long.BYTES;
    }

    private void requireNotHeld() {
        if (memory.isClosed()) {
            throw new IllegalStateException("lock is closed: name=" + region.name());
        }
        Hold held = holds.get(Thread.currentThread());
        if (held != null) {
            throw new IllegalStateException("this thread holds the lock already, for "
                    + (held.writes ? "writing" : "reading") + ": name=" + region.name());
        }
    }

    LarderException late(boolean writes, Duration timeout) {
        long writer = memory.getLongVolatile(offset + LockDescriptor.WRITER_OFFSET);
        Failure failure = Failure.of(ErrorCode.DEADLINE, "cannot take a lock in time")
                .with("name", region.name())
                .with("for", writes ? "writing" : "reading")
                .with("timeout", timeout);
        if (writer != 0) {
            failure.with("writerPid", writer);
        } else {
            failure.with("readerPids", livingReaders());
        }
        long waiter = memory.getLongVolatile(offset + LockDescriptor.WAITER_OFFSET);
        if (waiter != 0) {
            failure.with("nextPid", waiter);
        }
        return failure.remedy("check the process that holds the lock; killing it releases the lock");
    }

    private List<Long> livingReaders() {
        return IntStream.range(0, LockDescriptor.READERS)
                .mapToLong(place -> memory.getLongVolatile(readerOffset(place)))
                .filter(pid -> pid != 0 && ProcessHandle.of(pid).isPresent())
                .distinct()
                .boxed()
                .toList();
    }

    @Override
    public String toString() {
        return "SharedLock{" + region.name() + "}";
    }

    /** The lock in the hands of one thread. Any thread may close it; closing is idempotent. */
    public final class Hold implements AutoCloseable {
        private final Thread thread;
        private final boolean writes;
        private final int place;

        private Hold(Thread thread, boolean writes, int place) {
            this.thread = thread;
            this.writes = writes;
            this.place = place;
        }

        /**
         * Returns whether a writer died holding the lock and {@link #markRepaired} was not called since then: the data may be inconsistent.
         * Readers get the same answer.
         */
        public boolean wasAbandoned() {
            return abandonedBy() != 0;
        }

        /** Returns the pid of the dead writer; 0 if none died. */
        public long abandonedBy() {
            long before = memory.getLongVolatile(offset + LockDescriptor.ABANDONED_BY_OFFSET);
            return before != 0 || writes ? before : memory.getLongVolatile(offset + LockDescriptor.WRITER_OFFSET);
        }

        /** Declares the data consistent again. Only for a writer. */
        public void markRepaired() {
            if (!writes || holds.get(thread) != this) {
                throw new IllegalStateException("only the holder of the write lock can repair the data");
            }
            memory.putLongVolatile(offset + LockDescriptor.ABANDONED_BY_OFFSET, 0);
        }

        @Override
        public void close() {
            if (!holds.remove(thread, this)) {
                return;
            }
            // The pid is cleared before the seat is released, or the pid of the next writer could be cleared.
            if (writes) {
                memory.putLongVolatile(offset + LockDescriptor.WRITER_OFFSET, 0);
            } else if (place >= 0) {
                memory.compareAndSetLong(readerOffset(place), PID, 0);
            }
            region.leaveSeat(seat);
            lockEvents.ring();
        }
    }
}
