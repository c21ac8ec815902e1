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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A barrier among threads of all processes that have a region open.
 *
 * <pre>
 *   seat s          held for a moment by a thread that arrives or leaves
 *   seat s + 1 + n  held by a thread that waits: the kernel releases it if its process dies
 *
 *     0                 4                 8                 12                16
 *    +-----------------------------------+-----------------------------------+
 *  0 | generation: how often it opened   | parties of this generation        |
 *    +-----------------+-----------------+-----------------------------------+
 * 16 | bell            | -                                                   |
 *    +-----------------+-----------------------------------------------------+
 * 64 | for each seat n, int64: generation + 1 of the thread that took it last|
 *    +-----------------------------------------------------------------------+
 * </pre>
 *
 * A thread that arrives takes seat s, then a free seat, and sets the stamp of that to 0, because a thread that died may have left one. It
 * counts the seats that have the stamp generation + 1 and a living process; if there are some, the parties have to be the same. It writes
 * the parties, and its own stamp. If they are enough, it raises the generation, which opens the barrier for all, leaves its seats and rings.
 * Otherwise it leaves seat s, waits until the generation changes, and leaves its seat. To give up before, it takes seat s, looks a last
 * time, and leaves both. So a dead process never counts. A thread that fails may still have been
 * counted if it was interrupted, or if a process was stopped in the middle of arriving: then the barrier opens for the others. Thread-safe.
 */
final class SharedBarrier {
    static final int PARTIES_LIMIT = 368;

    private static final int GENERATION_OFFSET = 0;
    private static final int PARTIES_OFFSET = GENERATION_OFFSET + Long.BYTES;
    private static final int BELL_OFFSET = PARTIES_OFFSET + Long.BYTES;
    private static final int STAMPS_OFFSET = 64;

    /** The time between looks, because the kernel reports no deaths. */
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final Duration LEAVES_SOON = Duration.ofMillis(100);

    private final Region region;
    private final SharedMemory memory;
    private final long offset;
    private final int seat;
    private final EventCount events;

    /** Uses words from {@code offset} on, zeros at first, and seats from {@code seat} on. */
    SharedBarrier(Region region, long offset, int seat) {
        this.region = region;
        this.memory = region.memory();
        this.offset = offset;
        this.seat = seat;
        this.events = new EventCount(memory, offset + BELL_OFFSET);
    }

    /** Waits until as many threads as {@code parties} wait. Returns true to the last one. Fails with DEADLINE, REFUSED and INTERRUPTED. */
    boolean await(int parties, Duration timeout) {
        if (parties < 1 || parties > PARTIES_LIMIT) {
            throw new IllegalArgumentException("parties=" + parties + " limit=" + PARTIES_LIMIT);
        }
        Deadline deadline = Deadline.after(timeout);
        enter(parties, timeout, deadline);
        long generation = generation();
        int own = -1;
        boolean isLast = false;
        try {
            own = takeSeat();
            isLast = arrive(own, generation, parties);
        } finally {
            if (own >= 0 && memory.getLongVolatile(stampOffset(own)) != generation + 1) {
                region.leaveSeat(party(own)); // it was refused
            }
            region.leaveSeat(seat);
        }
        try {
            if (isLast) {
                events.ring();
            } else {
                awaitOthers(generation, parties, timeout, deadline);
            }
            return isLast;
        } finally {
            region.leaveSeat(party(own));
        }
    }

    private void enter(int parties, Duration timeout, Deadline deadline) {
        while (!region.tryTakeSeat(seat)) {
            Interrupts.requireNone("barrier", region.name());
            if (deadline.isOver()) {
                throw late(parties, timeout);
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    /** Takes a free seat, and clears the stamp of its last holder. */
    private int takeSeat() {
        for (int i = 0; i < PARTIES_LIMIT; i++) {
            if (region.tryTakeSeat(party(i))) {
                memory.putLongVolatile(stampOffset(i), 0);
                return i;
            }
        }
        throw Failure.of(ErrorCode.REFUSED, "too many threads wait at a barrier")
                .with("name", region.name())
                .with("limit", PARTIES_LIMIT)
                .remedy("use another array");
    }

    private boolean arrive(int own, long generation, int parties) {
        int others = arrived(generation);
        long known = memory.getLongVolatile(offset + PARTIES_OFFSET);
        if (others > 0 && known != parties) {
            throw Failure.of(ErrorCode.REFUSED, "the barrier has another number of parties")
                    .with("name", region.name())
                    .with("parties", known)
                    .with("wantedParties", parties)
                    .remedy("give the same number everywhere");
        }
        memory.putLongVolatile(offset + PARTIES_OFFSET, parties);
        memory.putLongVolatile(stampOffset(own), generation + 1);
        boolean isLast = others + 1 >= parties;
        if (isLast) {
            memory.putLongVolatile(offset + GENERATION_OFFSET, generation + 1);
        }
        return isLast;
    }

    private void awaitOthers(long generation, int parties, Duration timeout, Deadline deadline) {
        while (true) {
            int heard = events.listen();
            if (generation() != generation) {
                return;
            }
            Interrupts.requireNone("barrier", region.name());
            long leftNs = deadline.remainingNanos();
            if (leftNs > 0) {
                events.sleep(heard, Math.min(leftNs, LOOK_NS));
            } else {
                leave(generation, parties, timeout);
                return;
            }
        }
    }

    /**
     * Fails, unless the barrier has opened meanwhile. No thread counts this one while it leaves, unless a process is stopped in the middle
     * of arriving.
     */
    private void leave(long generation, int parties, Duration timeout) {
        enter(parties, timeout, Deadline.after(LEAVES_SOON));
        try {
            if (generation() == generation) {
                throw late(parties, timeout);
            }
        } finally {
            region.leaveSeat(seat);
        }
    }

    private long generation() {
        return memory.getLongVolatile(offset + GENERATION_OFFSET);
    }

    /** Returns how many threads wait in a generation. Looks only at stamped seats, because a look costs a system call. */
    private int arrived(long generation) {
        int count = 0;
        for (int i = 0; i < PARTIES_LIMIT; i++) {
            if (memory.getLongVolatile(stampOffset(i)) == generation + 1 && region.isSeatTaken(party(i))) {
                count++;
            }
        }
        return count;
    }

    private int party(int number) {
        return seat + 1 + number;
    }

    private long stampOffset(int number) {
        return offset + STAMPS_OFFSET + (long) number * Long.BYTES;
    }

    private LarderException late(int parties, Duration timeout) {
        return Failure.of(ErrorCode.DEADLINE, "not all have come to a barrier in time")
                .with("name", region.name())
                .with("arrived", arrived(generation()))
                .with("parties", parties)
                .with("timeout", timeout)
                .remedy("check the processes that are missing");
    }
}
