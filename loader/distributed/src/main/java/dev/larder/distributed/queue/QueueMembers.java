package dev.larder.distributed.queue;

import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.distributed.region.Region;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;

/** Who is a member of a queue, and what becomes of the records of those who are not any more. Thread-safe. */
final class QueueMembers {
    private static final long PID = ProcessHandle.current().pid();
    private static final long PID_MASK = QueueDescriptor.PRODUCES - 1;

    private final Region region;
    private final SharedMemory memory;
    private final HandleRing ring;
    private final boolean redelivers;
    private final int seat;

    /** Becomes a member, in the place of one that is dead perhaps. */
    QueueMembers(Region region, HandleRing ring, boolean redelivers) {
        this.region = region;
        this.memory = region.memory();
        this.ring = ring;
        this.redelivers = redelivers;
        this.seat = takeSeat(region);
        reclaimFrom(gone -> gone == seat); // nothing here is of this one yet
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

    /** Frees or returns what dead members held; tells whether there was anything. */
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
     * Frees or returns what members held that are gone. States are read before their holders are found gone, and the ring after: a
     * state that is still the same when it is changed is none that another member has in the same seat by now.
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
        held.andNot(ring.put(states)); // what was put stays so
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

    /** Tells whether anything may still be put again: others work on it, or somebody is about to put it. */
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

    /** Notes that this member produces: should it be gone without having finished, others need not wait for it. */
    void produce() {
        if (word(seat) == PID) {
            memory.compareAndSetLong(wordOffset(seat), PID, PID | QueueDescriptor.PRODUCES);
        }
    }

    /** Notes that this member has finished, whether it has produced or not. */
    void finish() {
        memory.putLongVolatile(wordOffset(seat), PID);
    }

    /** Tells whether everybody has finished or is gone, and none is left of those who have begun to produce. */
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

    /** Counts one that was found gone after its word was read, once. */
    private void countGone(int gone, long word) {
        if ((word & QueueDescriptor.PRODUCES) != 0
                && memory.compareAndSetLong(wordOffset(gone), word, word & ~QueueDescriptor.PRODUCES)) {
            memory.getAndAddInt(QueueDescriptor.GONE_OFFSET, 1);
        }
    }

    /** Returns how many records each process holds that are not in the ring, by pid. */
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
