package dev.larder.loader.fanout;

import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What a producer knows of its consumers. Their pages are read, never mapped, so that whatever they do to them is no worse than
 * a number that is wrong; and a wrong number costs nobody more than a batch or a wait with an end.
 */
final class Seats {
    private static final long UNKNOWN = Long.MIN_VALUE;

    private final Posix posix;
    private final BulkIo bulk = BulkIo.system();
    private final int[] descriptors;
    private final ByteBuffer page =
            ByteBuffer.allocateDirect(RingDescriptor.SEAT_LENGTH).order(ByteOrder.LITTLE_ENDIAN);

    /** Looked up once: pages are read for every batch. */
    private final long pageAddress = bulk.addressOf(page);

    private final long[] tickets;
    private final long[] finished;
    private final long[] dropped;
    private final long[] pids;

    /** Watches pages, which their owner closes. */
    Seats(Posix posix, int[] descriptors) {
        this.posix = posix;
        this.descriptors = descriptors;
        this.tickets = new long[descriptors.length];
        this.finished = new long[descriptors.length];
        this.dropped = new long[descriptors.length];
        this.pids = new long[descriptors.length];
    }

    /** Looks at every page and returns how many consumers there are. */
    int taken() {
        int taken = 0;
        for (int seat = 0; seat < descriptors.length; seat++) {
            taken += look(seat) ? 1 : 0;
        }
        return taken;
    }

    /** Looks at every page and returns which batch is the first that some consumer still needs; a very large one if none does. */
    long leastFinished() {
        long least = Long.MAX_VALUE;
        for (int seat = 0; seat < descriptors.length; seat++) {
            if (look(seat)) {
                least = Math.min(least, finished[seat]);
            }
        }
        return least;
    }

    /** Returns the seats that had not finished the batches before {@code needed} at the last look. */
    List<Integer> behind(long needed) {
        return known().stream().filter(seat -> finished[seat] < needed).toList();
    }

    /** Returns the seats that were taken at the last look. */
    List<Integer> known() {
        return IntStream.range(0, tickets.length)
                .filter(seat -> tickets[seat] != 0)
                .boxed()
                .toList();
    }

    /** Tells whether a signal has stopped who sits there, as far as this process can see it. */
    boolean isStopped(int seat) {
        try {
            String status = Files.readString(Path.of("/proc/" + pids[seat] + "/stat"));
            return status.startsWith("T", status.lastIndexOf(')') + 2);
        } catch (IOException gone) {
            return false;
        }
    }

    /** Tells whether nobody sits any more where somebody did at the last look: the lock ended with the process. */
    boolean isDead(int seat) {
        if (!posix.tryLockExclusive(descriptors[seat])) {
            return false;
        }
        try {
            long seen = tickets[seat];
            return look(seat) && tickets[seat] == seen; // else one has left, or another one come, meanwhile
        } finally {
            posix.unlock(descriptors[seat]);
        }
    }

    /** Waits no longer for who sits there, and returns the ticket to mark. */
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
        }
        long claim = page.getLong(RingDescriptor.SEAT_FINISHED_OFFSET);
        if (page.getLong(RingDescriptor.SEAT_CHECK_OFFSET) == ~claim) {
            finished[seat] = claim; // else it is being written: what was known before holds until the next look
        }
        return true;
    }
}
