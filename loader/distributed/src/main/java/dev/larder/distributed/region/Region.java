package dev.larder.distributed.region;

import dev.larder.distributed.internal.memory.SharedMemory;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.protocol.RegionRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * An open region: its memory, and the seats of processes. The daemon reclaims it when no process has it open. Owned by the caller that
 * opened it. Thread-safe.
 */
public final class Region implements AutoCloseable {
    private final RegionRow row;
    private final SharedMemory memory;
    private final RegionLocks locks;
    private final List<Integer> seats = new ArrayList<>();
    private final Set<Region> opened;
    private final AtomicBoolean open = new AtomicBoolean(true);

    /** Adds itself to the set of open regions until it is closed. */
    Region(RegionRow row, SharedMemory memory, RegionLocks locks, Set<Region> opened) {
        this.opened = opened;
        this.row = row;
        this.memory = memory;
        this.locks = locks;
    }

    /** Returns its name. */
    public String name() {
        return row.name();
    }

    /** Returns a number that no other region has, nor had. */
    public long id() {
        return row.id();
    }

    /** Returns the description of the daemon. */
    public RegionRow row() {
        return row;
    }

    /** Returns its data, which closes with it. */
    public SharedMemory memory() {
        return memory;
    }

    /** Returns the failure for content that does not match the kind. */
    public LarderException damaged(@Nullable Exception notice) {
        Failure failure = Failure.of(ErrorCode.BAD_INPUT, "the region is damaged")
                .with("name", name())
                .with("kind", row.kind())
                .with("bytes", memory.byteSize());
        if (notice != null) {
            failure.cause(notice);
        }
        return failure.remedy("remove it: larder regions --remove " + name());
    }

    /** Takes a seat, which is free again after it is given up or this process ends; false if another process has it. */
    public boolean tryTakeSeat(int seat) {
        requireOpen();
        return remembered(seat, locks.tryTake(position(seat)));
    }

    /** Takes a seat that several can share, unless one has it exclusively; each of them gives it up. */
    public boolean tryShareSeat(int seat) {
        requireOpen();
        return remembered(seat, locks.tryShare(position(seat)));
    }

    private boolean remembered(int seat, boolean isTaken) {
        if (isTaken) {
            synchronized (seats) {
                if (!open.get()) { // closed since the first check
                    locks.giveUp(position(seat));
                    requireOpen();
                }
                seats.add(seat);
            }
        }
        return isTaken;
    }

    /** Gives up a seat of this process. */
    public void leaveSeat(int seat) {
        synchronized (seats) {
            if (seats.remove((Integer) seat)) {
                locks.giveUp(position(seat));
            }
        }
    }

    /** Returns whether a living process has a seat. Costs a system call. */
    public boolean isSeatTaken(int seat) {
        requireOpen();
        return locks.isTaken(position(seat));
    }

    private long position(int seat) {
        if (seat < 0 || seat >= RegionDescriptor.SEAT_LIMIT) {
            throw new IndexOutOfBoundsException("seat " + seat + " of " + RegionDescriptor.SEAT_LIMIT);
        }
        return row.id() + RegionDescriptor.FIRST_SEAT_LOCK + seat;
    }

    private void requireOpen() {
        if (!open.get()) {
            throw new IllegalStateException("region is closed: name=" + row.name());
        }
    }

    @Override
    public String toString() {
        return "Region{" + row.name() + " " + row.kind() + " bytes=" + row.bytes() + "}";
    }

    /** Gives up its seats and the memory. Idempotent. */
    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            try {
                memory.close();
            } finally {
                synchronized (seats) {
                    seats.forEach(seat -> locks.giveUp(position(seat)));
                    seats.clear();
                }
                locks.detach(row.id());
                opened.remove(this);
            }
        }
    }
}
