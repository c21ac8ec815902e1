package dev.larder.distributed.shared;

import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.distributed.region.Region;
import dev.larder.internal.time.Deadline;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Two copies of an array, see {@link ArrayDescriptor}: publishers change one while readers copy the other. Thread-safe. */
final class DoubleBuffer {
    /** The number of tries of a reader before it keeps publishers out for the time of a copy. */
    private static final int TRIES = 4;

    /** The first time for which it keeps them out; the next ones double. A stopped publisher holds the lock, so readers can try again. */
    private static final long FIRST_ASKING_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final SharedMemory memory;
    private final SharedLock lock;
    private final long byteSize;
    private final long spareOffset;

    DoubleBuffer(Region region, long byteSize) {
        this.memory = region.memory();
        this.lock =
                new SharedLock(region, ArrayDescriptor.PUBLISHERS_LOCK_OFFSET, ArrayDescriptor.PUBLISHERS_LOCK_SEAT);
        this.byteSize = byteSize;
        this.spareOffset = ArrayDescriptor.spareOffset(byteSize);
    }

    /** Copies a state from an offset. */
    interface Copy {
        void from(long offset);
    }

    long publish(Runnable writer, Duration timeout) {
        try (SharedLock.Hold hold = lock.writeLock(timeout)) {
            repair();
            hold.markRepaired();
            long sequence = sequence();
            enter(sequence + ArrayDescriptor.WRITING);
            try {
                writer.run();
            } catch (RuntimeException | Error e) {
                repair();
                throw e;
            }
            enter(sequence + ArrayDescriptor.COPYING);
            copy(ArrayDescriptor.ELEMENTS_OFFSET, spareOffset);
            enter(sequence + ArrayDescriptor.PHASES);
            return published(sequence) + 1;
        }
    }

    /** Completes or reverts an unfinished publication. The lock is held for writing. */
    private void repair() {
        long sequence = sequence();
        int phase = phase(sequence);
        if (phase == ArrayDescriptor.WRITING) {
            copy(spareOffset, ArrayDescriptor.ELEMENTS_OFFSET);
            enter(sequence - phase);
        } else if (phase == ArrayDescriptor.COPYING) {
            copy(ArrayDescriptor.ELEMENTS_OFFSET, spareOffset);
            enter(sequence - phase + ArrayDescriptor.PHASES);
        }
    }

    /** Returns the number of the copied publication. */
    long snapshot(Copy copy, Duration timeout) {
        Deadline deadline = Deadline.after(timeout);
        for (long askingNs = FIRST_ASKING_NS; ; askingNs *= 2) {
            long number = -1;
            for (int i = 0; i < TRIES && number < 0; i++) {
                number = tryCopy(copy);
            }
            if (number < 0) {
                Duration asking = Duration.ofNanos(Math.min(askingNs, deadline.remainingNanos()));
                number = copyAlone(copy, Deadline.after(asking));
            }
            if (number >= 0) {
                return number;
            }
            if (deadline.isOver()) {
                throw lock.late(false, timeout);
            }
        }
    }

    /** Copies while no publisher is active, even if one has died; -1 if publishers are active all the time. */
    private long copyAlone(Copy copy, Deadline deadline) {
        SharedLock.Hold hold = lock.readLockUntil(deadline);
        if (hold == null) {
            return -1;
        }
        try {
            return tryCopy(copy);
        } finally {
            hold.close();
        }
    }

    /** Copies once. After a copy of the elements, the sequence has to be the same, because it goes back if a later publisher fails. */
    private long tryCopy(Copy copy) {
        long sequence = sequence();
        boolean isCopying = phase(sequence) == ArrayDescriptor.COPYING;
        copy.from(isCopying ? ArrayDescriptor.ELEMENTS_OFFSET : spareOffset);
        VarHandle.acquireFence();
        long now = sequence();
        if (isCopying) {
            return now == sequence ? published(sequence) + 1 : -1;
        }
        long state = sequence - phase(sequence);
        return now < state + ArrayDescriptor.COPYING ? published(state) : -1;
    }

    long published() {
        long sequence = sequence();
        return published(sequence) + (phase(sequence) == ArrayDescriptor.COPYING ? 1 : 0);
    }

    private static long published(long sequence) {
        return sequence / ArrayDescriptor.PHASES;
    }

    private static int phase(long sequence) {
        return (int) (sequence % ArrayDescriptor.PHASES);
    }

    private long sequence() {
        return memory.getLongVolatile(ArrayDescriptor.SEQUENCE_OFFSET);
    }

    private void enter(long sequence) {
        memory.putLongVolatile(ArrayDescriptor.SEQUENCE_OFFSET, sequence);
        VarHandle.fullFence(); // later writes stay after this
    }

    private void copy(long from, long to) {
        Bytes.copy(null, memory.address(from, byteSize), null, memory.address(to, byteSize), byteSize);
    }
}
