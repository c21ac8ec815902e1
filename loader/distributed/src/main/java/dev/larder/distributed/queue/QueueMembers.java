package dev.larder.distributed.queue;

import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.distributed.region.Region;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;

/** The members of a queue, and the records of dead ones. Thread-safe. */
final class QueueMembers {
    private static final long PID = ProcessHandle.current().pid();
    private static final long PID_MASK = QueueDescriptor.PRODUCES - 1;

    private final Region region;
    private final SharedMemory memory;
    private final HandleRing ring;
    private final boolean redelivers;
    private final int seat;

    /** Joins the queue, perhaps at the seat of a dead member. */
    QueueMembers(Region region, HandleRing ring, boolean redelivers) {
        this.region = region;
        this.memory = region.memory();
        this.ring = ring;
        this.redelivers = redelivers;
        this.seat = takeSeat(region);
        reclaimFrom(gone -> gone == seat); // this member has no record yet
        countGone(seat, word(seat));
        memory.putLongVolatile(wordOffset(seat), PID);
    }

    private static int takeSeat(Region region) {
        for (int seat = 0; seat < QueueDescriptor.SEATS; seat++) {
            if (region.tryTakeSeat(seat)) {
                return seat;
            }
        }
        throw Failure.of(ErrorCode.REFUSED, "queue has no room for another member")
                .with("name", region.name())
                .with("limit", QueueDescriptor.SEATS)
                .remedy("open it once in each process, not for each thread");
    }

    int seat() {
        return seat;
    }

    /** Frees or returns the records of dead members; returns whether there were any. */
    boolean reclaimFromDead() {
        BitSet alive = new BitSet(QueueDescriptor.SEATS);
        alive.set(seat);
        return reclaimFrom(holder -> {
            if (!alive.get(holder) && region.isSeatTaken(holder)) {
                alive.set(holder);
            }
            return !alive.get(holder);
        });
    }

    /**
     * Frees or returns the records of members that are gone. States are read before the seats of their holders are checked, and the ring
     * after that. So a state that is unchanged when it is replaced is not that of a new member in the same seat.
     */
    private boolean reclaimFrom(IntPredicate isGone) {
        long[] states = ring.states();
        BitSet held = new BitSet(states.length);
        for (int record = 0; record < states.length; record++) {
            boolean isHeld = QueueDescriptor.kind(states[record]) != QueueDescriptor.FREE;
            held.set(record, isHeld && isGone.test(QueueDescriptor.seat(states[record])));
        }
        if (held.isEmpty()) {
            return false;
        }
        held.andNot(ring.put(states)); // records in the ring stay
        boolean isAny = false;
        for (int record = held.nextSetBit(0); record >= 0; record = held.nextSetBit(record + 1)) {
            isAny |= reclaim(record, states[record]);
        }
        return isAny;
    }

    private boolean reclaim(int record, long state) {
        long generation = QueueDescriptor.generation(state);
        return switch (QueueDescriptor.kind(state)) {
            case QueueDescriptor.TAKEN -> redelivers ? putBack(record, state) : lose(record, state, generation);
            case QueueDescriptor.RETURNING -> putBack(record, state);
            default -> ring.change(record, state, QueueDescriptor.state(QueueDescriptor.FREE, 0, generation));
        };
    }

    private boolean lose(int record, long state, long generation) {
        boolean isLost = ring.change(record, state, QueueDescriptor.state(QueueDescriptor.FREE, 0, generation));
        if (isLost) {
            memory.getAndAddLong(QueueDescriptor.LOST_OFFSET, 1);
        }
        return isLost;
    }

    private boolean putBack(int record, long state) {
        long generation = QueueDescriptor.generation(state) + 1;
        boolean isMine = ring.change(record, state, QueueDescriptor.state(QueueDescriptor.RETURNING, seat, generation));
        if (isMine) {
            ring.putAnyway(record, generation);
        }
        return isMine;
    }

    /** Returns whether a record may be put again: consumers work on it, or a member is about to put it. */
    boolean isAnyOnTheWay() {
        for (int record = 0; record < ring.records(); record++) {
            long state = ring.state(record);
            int kind = QueueDescriptor.kind(state);
            boolean isTakenByOthers = kind == QueueDescriptor.TAKEN && QueueDescriptor.seat(state) != seat;
            if (isTakenByOthers || kind == QueueDescriptor.RETURNING) {
                return true;
            }
        }
        return false;
    }

    /** Records that this member produces, so that others do not wait for it if it dies before it finishes. */
    void produce() {
        if (word(seat) == PID) {
            memory.compareAndSetLong(wordOffset(seat), PID, PID | QueueDescriptor.PRODUCES);
        }
    }

    /** Records that this member has finished, whether or not it has produced. */
    void finish() {
        memory.putLongVolatile(wordOffset(seat), PID);
    }

    /** Returns whether all producers have finished or are gone. */
    boolean isWithoutProducers(int producers) {
        int living = 0;
        for (int other = 0; other < QueueDescriptor.SEATS; other++) {
            long word = word(other);
            if ((word & QueueDescriptor.PRODUCES) == 0) {
                continue;
            }
            if (other == seat || region.isSeatTaken(other)) {
                living++;
            } else {
                countGone(other, word);
            }
        }
        int gone = memory.getIntVolatile(QueueDescriptor.GONE_OFFSET);
        int finished = memory.getIntVolatile(QueueDescriptor.FINISHED_OFFSET);
        return living == 0 && gone > 0 && (long) gone + finished >= producers;
    }

    /** Counts a dead producer once. */
    private void countGone(int gone, long word) {
        if ((word & QueueDescriptor.PRODUCES) != 0
                && memory.compareAndSetLong(wordOffset(gone), word, word & ~QueueDescriptor.PRODUCES)) {
            memory.getAndAddInt(QueueDescriptor.GONE_OFFSET, 1);
        }
    }

    /** Returns the number of records of each process that are not in the ring, by pid. */
    Map<Long, Integer> held(int kind) {
        Map<Long, Integer> held = new TreeMap<>();
        long[] states = ring.states();
        BitSet put = ring.put(states);
        for (int record = 0; record < states.length; record++) {
            long state = states[record];
            if (QueueDescriptor.kind(state) == kind && (kind == QueueDescriptor.TAKEN || !put.get(record))) {
                held.merge(word(QueueDescriptor.seat(state)) & PID_MASK, 1, Integer::sum);
            }
        }
        return held;
    }

    private long word(int of) {
        return memory.getLongVolatile(wordOffset(of));
    }

    private static long wordOffset(int seat) {
        return QueueDescriptor.PIDS_OFFSET + (long) seat * Long.BYTES;
    }
}
