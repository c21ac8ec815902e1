package dev.larder.loader.fanout;

import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.process.TaskStat;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The consumers as the producer sees them. It reads their pages and never maps them, so a broken consumer can only cause a wrong
 * number; and a wrong number costs at most a lost batch or a wait until the time limit.
 */
final class Seats {
    private static final long UNKNOWN = Long.MIN_VALUE;

    private final Posix posix;
    private final BulkIo bulk = BulkIo.system();
    private final int[] descriptors;
    private final ByteBuffer page =
            ByteBuffer.allocateDirect(RingDescriptor.SEAT_LENGTH).order(ByteOrder.LITTLE_ENDIAN);

    /** Computed once, because pages are read for every batch. */
    private final long pageAddress = bulk.addressOf(page);

    private final long[] tickets;
    private final long[] finished;
    private final long[] dropped;
    private final long[] pids;
    private final long[] starts;

    /** Reads pages that the caller owns. */
    Seats(Posix posix, int[] descriptors) {
        this.posix = posix;
        this.descriptors = descriptors;
        this.tickets = new long[descriptors.length];
        this.finished = new long[descriptors.length];
        this.dropped = new long[descriptors.length];
        this.pids = new long[descriptors.length];
        this.starts = new long[descriptors.length];
    }

    /** Reads every page; returns the number of consumers. */
    int taken() {
        int taken = 0;
        for (int seat = 0; seat < descriptors.length; seat++) {
            taken += look(seat) ? 1 : 0;
        }
        return taken;
    }

    /** Reads every page; returns the first batch that a consumer still needs, or a very large number if none does. */
    long leastFinished() {
        return leastFinished(false);
    }

    /** Reads the pages of the consumers that were known at the last read; returns as {@link #leastFinished()}. */
    long leastFinishedOfKnown() {
        return leastFinished(true);
    }

    private long leastFinished(boolean onlyKnown) {
        long least = Long.MAX_VALUE;
        for (int seat = 0; seat < descriptors.length; seat++) {
            if ((!onlyKnown || tickets[seat] != 0) && look(seat)) {
                least = Math.min(least, finished[seat]);
            }
        }
        return least;
    }

    /**
     * Returns whether a known consumer has not finished the batches before {@code needed}. A producer that waits calls this in a loop, so it
     * reads no page but that of the first consumer that is behind.
     */
    boolean isOneBehind(long needed) {
        for (int seat = 0; seat < descriptors.length; seat++) {
            if (tickets[seat] != 0 && finished[seat] < needed && look(seat) && finished[seat] < needed) {
                return true;
            }
        }
        return false;
    }

    /** Reads the pages of the known consumers; returns the seats that have not finished the batches before {@code needed}. */
    List<Integer> behind(long needed) {
        return known().stream()
                .filter(seat -> look(seat) && finished[seat] < needed)
                .toList();
    }

    /** Returns the seats that were taken at the last read. */
    List<Integer> known() {
        return IntStream.range(0, tickets.length)
                .filter(seat -> tickets[seat] != 0)
                .boxed()
                .toList();
    }

    /** Returns whether a signal has stopped the consumer; false if its process is not visible. */
    boolean isStopped(int seat) {
        return TaskStat.of(pids[seat], starts[seat]).filter(TaskStat::isStopped).isPresent();
    }

    /** Returns whether the consumer of the last read is dead: its lock ended with its process. */
    boolean isDead(int seat) {
        if (!posix.tryLockExclusive(descriptors[seat])) {
            return false;
        }
        try {
            long seen = tickets[seat];
            return look(seat) && tickets[seat] == seen; // else it has left, or another consumer has the seat
        } finally {
            posix.unlock(descriptors[seat]);
        }
    }

    /** Ignores the consumer of a seat from now on; returns its ticket. */
    long drop(int seat) {
        dropped[seat] = tickets[seat];
        tickets[seat] = 0;
        return dropped[seat];
    }

    /** Describes a seat for messages. */
    String describe(int seat) {
        return RingDescriptor.seatFile(seat) + "(pid " + pids[seat] + ", needs batch "
                + (finished[seat] == UNKNOWN ? "unknown" : Long.toString(finished[seat])) + ")";
    }

    private boolean look(int seat) {
        long found = bulk.read(descriptors[seat], 0, pageAddress, RingDescriptor.SEAT_LENGTH);
        long ticket = found < RingDescriptor.SEAT_LENGTH ? 0 : page.getLong(RingDescriptor.SEAT_TICKET_OFFSET);
        if (ticket == 0 || ticket == dropped[seat]) {
            tickets[seat] = 0;
            return false;
        }
        if (ticket != tickets[seat]) {
            tickets[seat] = ticket;
            finished[seat] = UNKNOWN;
            pids[seat] = page.getLong(RingDescriptor.SEAT_PID_OFFSET);
            starts[seat] = page.getLong(RingDescriptor.SEAT_PROCESS_START_OFFSET);
        }
        long claim = page.getLong(RingDescriptor.SEAT_FINISHED_OFFSET);
        if (page.getLong(RingDescriptor.SEAT_CHECK_OFFSET) == ~claim) {
            finished[seat] = claim; // else it is being written, and the last value holds until the next read
        }
        return true;
    }
}
