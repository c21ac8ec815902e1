package dev.larder.distributed.queue;

import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.SharedMemory;
import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import java.util.Map;
import java.util.TreeMap;

/** Who is a member of a queue, and what becomes of the records of those who are not any more. Thread-safe. */
final class QueueMembers {
    private static final long PID = ProcessHandle.current().pid();

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
        reclaim(seat);
        memory.putLongVolatile(pidOffset(seat), PID);
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
        boolean isAny = false;
        int lastDead = -1;
        int lastAlive = seat;
        for (int record = 0; record < ring.records(); record++) {
            long state = ring.state(record);
            int holder = QueueDescriptor.seat(state);
            if (QueueDescriptor.kind(state) == QueueDescriptor.FREE || holder == lastAlive) {
                continue;
            }
            if (holder != lastDead && region.isSeatTaken(holder)) {
                lastAlive = holder;
            } else {
                lastDead = holder;
                isAny |= reclaim(record, ring.state(record), holder);
            }
        }
        return isAny;
    }

    /** Frees or returns what a member held that is gone: a predecessor of this one, or this one itself when it leaves. */
    void reclaim(int gone) {
        for (int record = 0; record < ring.records(); record++) {
            reclaim(record, ring.state(record), gone);
        }
    }

    private boolean reclaim(int record, long state, int gone) {
        int kind = QueueDescriptor.kind(state);
        if (kind == QueueDescriptor.FREE || QueueDescriptor.seat(state) != gone) {
            return false;
        }
        long generation = QueueDescriptor.generation(state);
        if (kind == QueueDescriptor.TAKEN) {
            return redelivers ? putBack(record, state) : lose(record, state, generation);
        }
        if (ring.has(record, state)) {
            return false; // it was put, and stays so
        }
        return kind == QueueDescriptor.RETURNING
                ? putBack(record, state)
                : ring.change(record, state, QueueDescriptor.state(QueueDescriptor.FREE, 0, generation));
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

    /** Tells whether any other member works on what it has taken. */
    boolean isAnyTakenByOthers() {
        for (int record = 0; record < ring.records(); record++) {
            long state = ring.state(record);
            if (QueueDescriptor.kind(state) == QueueDescriptor.TAKEN && QueueDescriptor.seat(state) != seat) {
                return true;
            }
        }
        return false;
    }

    /** Returns how many records each process holds that are not in the ring, by pid. */
    Map<Long, Integer> held(int kind) {
        Map<Long, Integer> held = new TreeMap<>();
        for (int record = 0; record < ring.records(); record++) {
            long state = ring.state(record);
            if (QueueDescriptor.kind(state) == kind && (kind == QueueDescriptor.TAKEN || !ring.has(record, state))) {
                held.merge(memory.getLongVolatile(pidOffset(QueueDescriptor.seat(state))), 1, Integer::sum);
            }
        }
        return held;
    }

    private static long pidOffset(int seat) {
        return QueueDescriptor.PIDS_OFFSET + (long) seat * Long.BYTES;
    }
}
