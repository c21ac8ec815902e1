package dev.larder.loader.fanout;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.process.TaskStat;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** A consumer's seat at a ring: the lock of a page, and its words. Not thread-safe. */
final class Seat implements AutoCloseable {
    private final Posix posix;
    private final BulkIo bulk = BulkIo.system();
    private final int number;
    private final int descriptor;
    private final ByteBuffer page =
            ByteBuffer.allocateDirect(RingDescriptor.SEAT_LENGTH).order(ByteOrder.LITTLE_ENDIAN);

    /** Computed once, because the page is written for every batch. */
    private final long pageAddress = bulk.addressOf(page);

    private boolean open = true;

    private Seat(Posix posix, int number, int descriptor) {
        this.posix = posix;
        this.number = number;
        this.descriptor = descriptor;
    }

    /** Takes a free seat of a ring's folder; returns null if all are taken. The caller closes it. */
    static @Nullable Seat tryTake(Posix posix, Path folder) {
        for (int number = 0; number < RingDescriptor.SEAT_LIMIT; number++) {
            Path file = folder.resolve(RingDescriptor.seatFile(number));
            if (number > 0 && Files.notExists(file)) {
                return null;
            }
            int descriptor = posix.openForWriting(file);
            boolean taken = false;
            try {
                taken = posix.tryLockExclusive(descriptor);
                if (taken) {
                    return new Seat(posix, number, descriptor);
                }
            } finally {
                if (!taken) {
                    posix.close(descriptor);
                }
            }
        }
        return null;
    }

    /** Returns whether the name still leads to the ring of this page. */
    boolean isLinked() {
        return posix.status(descriptor).isLinked();
    }

    int number() {
        return number;
    }

    long ticket() {
        return page.getLong(RingDescriptor.SEAT_TICKET_OFFSET);
    }

    /** Makes the producer wait for this consumer, which needs the batches from {@code finished} on. */
    void sit(long finished) {
        writeTicket(0); // first: without a ticket the producer ignores the page
        page.putLong(RingDescriptor.SEAT_PID_OFFSET, ProcessHandle.current().pid());
        page.putLong(
                RingDescriptor.SEAT_PROCESS_START_OFFSET,
                TaskStat.ofThisProcess().map(TaskStat::startTicks).orElse(0L));
        write(RingDescriptor.SEAT_PID_OFFSET, 2 * Long.BYTES);
        finish(finished);
        writeTicket(ThreadLocalRandom.current().nextLong() | 1); // last: a producer that sees it sees the start
        // The consumer's half of a Dekker pair: write the ticket, then read the claim. The producer claims,
        // then reads the tickets (RingWriter.claim): at least one of the two sees the other.
        VarHandle.fullFence();
    }

    /** Releases the batches before this one to the producer. */
    void finish(long finished) {
        VarHandle.releaseFence(); // all reads of them come before
        page.putLong(RingDescriptor.SEAT_FINISHED_OFFSET, finished);
        page.putLong(RingDescriptor.SEAT_CHECK_OFFSET, ~finished);
        write(RingDescriptor.SEAT_FINISHED_OFFSET, 2 * Long.BYTES);
        VarHandle.fullFence(); // as in sit, for a consumer that begins later than it first announced
    }

    private void writeTicket(long ticket) {
        page.putLong(RingDescriptor.SEAT_TICKET_OFFSET, ticket);
        write(RingDescriptor.SEAT_TICKET_OFFSET, Long.BYTES);
    }

    private void write(int offset, int length) {
        try {
            bulk.write(descriptor, offset, pageAddress + offset, length);
        } finally {
            Reference.reachabilityFence(page); // its memory is freed when it is unreachable
        }
    }

    /** Releases the seat. Idempotent. */
    @Override
    public void close() {
        if (open) {
            open = false;
            try {
                writeTicket(0);
            } catch (LarderException e) {
                if (e.code() != ErrorCode.NO_SPACE) { // another program has truncated the page, so no producer reads it
                    throw e;
                }
            } finally {
                posix.close(descriptor);
            }
        }
    }
}
