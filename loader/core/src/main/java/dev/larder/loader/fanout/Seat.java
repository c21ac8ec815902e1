package dev.larder.loader.fanout;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** A consumer's place at a ring: the lock of a page, and what stands in it. Not thread-safe. */
final class Seat implements AutoCloseable {
    private final Posix posix;
    private final BulkIo bulk = BulkIo.system();
    private final int number;
    private final int descriptor;
    private final ByteBuffer page =
            ByteBuffer.allocateDirect(RingDescriptor.SEAT_LENGTH).order(ByteOrder.LITTLE_ENDIAN);

    /** Looked up once: the page is written for every batch. */
    private final long pageAddress = bulk.addressOf(page);

    private boolean open = true;

    private Seat(Posix posix, int number, int descriptor) {
        this.posix = posix;
        this.number = number;
        this.descriptor = descriptor;
    }

    /** Takes a free seat of those that a ring's folder has; null where all are taken. The caller closes it. */
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

    /** Tells whether the page is still that of the ring that the name leads to. */
    boolean isLinked() {
        return posix.status(descriptor).isLinked();
    }

    int number() {
        return number;
    }

    long ticket() {
        return page.getLong(RingDescriptor.SEAT_TICKET_OFFSET);
    }

    /** Has the producer wait for this consumer from now on, which needs the batches from {@code finished} on. */
    void sit(long finished) {
        writeTicket(0); // first: without a ticket the producer passes over what stands in the page
        page.putLong(RingDescriptor.SEAT_PID_OFFSET, ProcessHandle.current().pid());
        write(RingDescriptor.SEAT_PID_OFFSET, Long.BYTES);
        finish(finished);
        writeTicket(ThreadLocalRandom.current().nextLong() | 1); // last: who sees it sees where we begin
        // The consumer's half of a Dekker pair: write the ticket, then look at what is claimed. The producer claims,
        // then looks at the tickets (RingWriter.claim): at least one of the two sees the other.
        VarHandle.fullFence();
    }

    /** Tells the producer that the batches before this one are not needed any more. */
    void finish(long finished) {
        VarHandle.releaseFence(); // what was read of them was read before
        page.putLong(RingDescriptor.SEAT_FINISHED_OFFSET, finished);
        page.putLong(RingDescriptor.SEAT_CHECK_OFFSET, ~finished);
        write(RingDescriptor.SEAT_FINISHED_OFFSET, 2 * Long.BYTES);
        VarHandle.fullFence(); // as in sit, for a consumer that begins later than it first said
    }

    private void writeTicket(long ticket) {
        page.putLong(RingDescriptor.SEAT_TICKET_OFFSET, ticket);
        write(RingDescriptor.SEAT_TICKET_OFFSET, Long.BYTES);
    }

    private void write(int offset, int length) {
        try {
            bulk.write(descriptor, offset, pageAddress + offset, length);
        } finally {
            Reference.reachabilityFence(page); // whose memory goes when nobody can reach it
        }
    }

    /** Gets up. Idempotent. */
    @Override
    public void close() {
        if (open) {
            open = false;
            try {
                writeTicket(0);
            } catch (LarderException e) {
                if (e.code() != ErrorCode.NO_SPACE) { // somebody has cut the page off: nobody can be waiting for it
                    throw e;
                }
            } finally {
                posix.close(descriptor);
            }
        }
    }
}
