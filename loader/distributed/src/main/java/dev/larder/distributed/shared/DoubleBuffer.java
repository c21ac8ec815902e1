package dev.larder.distributed.shared;

import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.distributed.region.Region;
import dev.larder.internal.time.Deadline;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Two copies of an array, as {@link ArrayDescriptor} says: publishers change one while readers copy the other. Thread-safe. */
final class DoubleBuffer {
    /** How often a reader tries to be quicker than publishers before it asks them to stay out for the time of a copy. */
    private static final int TRIES = 4;

    /** So long it asks at first, then twice as long: who is stopped holds the lock, and lets readers try again by that. */
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

    /** What copies a state from where it is found to be. */
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

    /** Ends what a publisher began that did not come to its end. The lock is held for writing. */
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

    /** Returns the number of the publication that was copied. */
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

    /** Copies while no publisher works, though one may have died at it; -1 where they go on all the time. */
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

    /** Where it copies the elements, the sequence has to be the same after: it goes back where a later publisher fails. */
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
        VarHandle.fullFence(); // what follows is not written before
    }

    private void copy(long from, long to) {
        Bytes.copy(null, memory.address(from, byteSize), null, memory.address(to, byteSize), byteSize);
    }
}
