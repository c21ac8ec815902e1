package dev.larder.loader.fanout;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.PageSize;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import dev.larder.npy.Dtype;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Writes batches into the slots of a ring. The caller makes sure that the slots are free. Not thread-safe. */
final class RingWriter implements AutoCloseable {
    /*
     * The life of a slot, and why a ring survives its processes
     *
     * Batch q is in slot q % slots, after the old batch q - slots. RingDescriptor specifies the words and the steps of both sides. For
     * batch q, the slot is
     *
     *   free       its sequence is that of the old batch, or 0 in the first round, and each known consumer has finished that batch
     *   claimed    "claimed" is above q: a new consumer does not begin with the old batch any more
     *   writing    its sequence is 2q + 1
     *   written    its sequence is 2q + 2, but "published" is not above q, so no consumer reads it
     *   published  "published" is above q: consumers read it in place, until the slot is free for batch q + slots
     *
     * Only the producer writes the file: one thread at a time, under the monitor of BatchPublisher. If a loader gathers into the slots,
     * its threads write the arrays of slots that RingSlots has released; the lock of the loader's ring orders these writes before
     * publishInPlace(). A consumer maps the file read-only, and writes only the page of its seat. Both sides use pread and pwrite for
     * pages, so no process can crash another one by truncating a page. Every step is ordered:
     *
     *   claim      "claimed", full fence, then read the seats. A consumer writes its ticket, full fence, then reads "claimed". So the
     *              producer sees the ticket and waits, or the consumer sees the claim and begins behind it. A claim covers no batch
     *              that a consumer of the last read needs; a newer consumer may begin later than it announced
     *   drop       the dropped ticket, full fence, then any later write: a consumer that finds its batch overwritten also finds that
     *              it was dropped
     *   begin      2q + 1, store fence, then the data: a consumer that reads a byte of batch q finds afterwards that the sequence of
     *              the old batch is gone
     *   publish    the data, then 2q + 2, then "published", each with release order
     *   end        the message, then the state with release order. A consumer reads the state before "published", so it misses no
     *              batch
     *
     * The kernel releases the lock of a process when it dies, and keeps the pages of a file as long as they are mapped. A dead producer
     * leaves producer.lock free; consumers then read "published" once more, take the remaining batches, and report the death.
     *
     *   death before the ring appears   consumers find no file "ring" and continue to wait; the rename makes it visible when its
     *                                   header is complete
     *   after claim or drop             no batch changes; a consumer that attaches later may begin later
     *   after begin, or while written   "published" does not count the batch
     *   after publish                   consumers get the batch
     *   before the state                consumers get all batches, and then an error instead of the end
     *   while the files are removed     attached consumers keep their pages; the daemon or the next producer removes the rest
     *
     * The producer ignores a seat without a ticket. While it waits for a slot, and after each epoch, it tests the locks of the seats that
     * are behind:
     *
     *   death before the ticket         the producer does not wait for this consumer
     *   after the ticket                it finds the lock free, and drops the ticket
     *   while finished is written       finished and its check differ, so the last value counts
     *   after another death             the next consumer of the seat writes ticket 0 first and its own ticket last
     *
     * A stopped process keeps its lock. A stopped consumer is like a slow one: it is dropped, or ends the wait with an error. A stopped
     * producer continues later, because a claim does not expire. The daemon takes no part while a producer lives.
     */

    /** A batch with this many bytes gets huge pages; its slot then takes up to four times the memory. */
    private static final long LEAST_HUGE_BYTES = PageSize.HUGE_BYTES / 4;

    private final MappedMemory memory;
    private final RingGeometry geometry;
    private final ByteBuffer header;
    private final ByteBuffer[] slots;

    /** Computed once, because it is needed for every batch. */
    private final long slotsAddress;

    private final long[] reserved;
    private final Reservation reservation;
    private long published;

    /** Writes to memory with {@code slotBytes} of each slot reserved. Owns the memory. */
    RingWriter(MappedMemory memory, RingGeometry geometry, long slotBytes, Reservation reservation) {
        this.memory = memory;
        this.geometry = geometry;
        this.reservation = reservation;
        this.reserved = new long[geometry.slots()];
        Arrays.fill(reserved, slotBytes);
        this.slotsAddress = memory.address() + geometry.slotsOffset();
        this.header = memory.buffer(0, geometry.slotsOffset());
        this.slots = new ByteBuffer[geometry.slots()];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = memory.buffer(geometry.slotOffset(i), geometry.slotByteSize());
        }
    }

    /** Reserves a stretch of the ring's file, or fails with NO_SPACE. */
    @FunctionalInterface
    interface Reservation {
        void reserve(long offset, long byteSize);
    }

    /** Returns the bytes to reserve for a batch: a quarter more, so that most later batches fit. */
    static long withMore(long needed) {
        return needed + needed / 4;
    }

    /** Returns the bytes to reserve, rounded up to huge pages if the batch fills a good part of one. */
    static long roomy(long wanted, long limit) {
        long unit = wanted < LEAST_HUGE_BYTES ? PageSize.BYTES : PageSize.HUGE_BYTES;
        return Math.min(ByteSums.roundUp(wanted, unit), limit);
    }

    /** Reserves memory for a batch in the next slot: a write to a hole of a full tmpfs would kill the process. */
    void makeRoom(Batch batch) {
        int slot = (int) (published % slots.length);
        long needed = slotBytes(batch);
        if (needed <= reserved[slot]) {
            return;
        }
        long wanted = roomy(withMore(needed), geometry.slotByteSize());
        try {
            reserve(slot, wanted);
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_SPACE) {
                throw e;
            }
            reserve(slot, RingDescriptor.aligned(needed, RingDescriptor.PAGE_LENGTH));
        }
    }

    private void reserve(int slot, long byteSize) {
        reservation.reserve(geometry.slotOffset(slot) + reserved[slot], byteSize - reserved[slot]);
        reserved[slot] = byteSize;
    }

    /** Returns the arrays of a ring for batches like this one. */
    static List<RingArray> arraysOf(Batch batch) {
        return batch.arrays().stream()
                .map(array -> new RingArray(array.name(), array.dtype()))
                .toList();
    }

    /** Returns the bytes that a batch takes in a slot. */
    static long slotBytes(Batch batch) {
        List<BatchArray> arrays = batch.arrays();
        long end = RingDescriptor.dataOffset(arrays.size());
        for (int i = 0; i < arrays.size(); i++) {
            end = RingDescriptor.aligned(end, RingDescriptor.DATA_ALIGNMENT)
                    + arrays.get(i).byteSize();
        }
        return end;
    }

    long published() {
        return published;
    }

    RingGeometry geometry() {
        return geometry;
    }

    /** Fails with BAD_INPUT if a batch has other arrays than the ring, or does not fit into a slot. */
    void requireFits(Batch batch) {
        List<BatchArray> arrays = batch.arrays();
        boolean isSame = arrays.size() == geometry.arrays().size();
        for (int i = 0; isSame && i < arrays.size(); i++) {
            RingArray expected = geometry.arrays().get(i);
            Dtype dtype = arrays.get(i).dtype();
            isSame = arrays.get(i).name().equals(expected.name()) && dtype.equals(expected.dtype());
        }
        if (!isSame) {
            throw rejected("a batch has other arrays than the first one", batch)
                    .with("arrays", arraysOf(batch))
                    .with("expected", geometry.arrays())
                    .remedy("publish batches of one kind under one name");
        }
        long needed = slotBytes(batch);
        if (needed > geometry.slotByteSize()) {
            throw rejected("a batch does not fit into a slot of the ring", batch)
                    .with("needed", needed)
                    .with("slotBytes", geometry.slotByteSize())
                    .remedy("set slotBytes(…) to the size of the largest batch; the default is the larger of 64 GiB"
                            + " / slots and 4 × the first batch, at most 2 GiB");
        }
        for (BatchArray array : arrays) {
            requireRank(batch, array);
        }
    }

    static void requireRank(Batch batch, BatchArray array) {
        int rank = array.shape().length;
        if (rank > RingDescriptor.RANK_LIMIT) {
            throw rejected("an array of a batch has too many dimensions for a ring", batch)
                    .with("array", array.name())
                    .with("dimensions", rank)
                    .with("limit", RingDescriptor.RANK_LIMIT)
                    .exception();
        }
    }

    private static Failure rejected(String what, Batch batch) {
        return Failure.of(ErrorCode.BAD_INPUT, what)
                .with("epoch", batch.epoch())
                .with("batch", batch.number());
    }

    /** Announces that batches before {@code claimed} may be overwritten. Later writes become visible after it. */
    void claim(long claimed) {
        RingWords.longRelease(header, RingDescriptor.CLAIMED_OFFSET, claimed);
        VarHandle.fullFence(); // the producer's half of a Dekker pair: claim, then read the seats; see Seat.sit
    }

    /** Returns the slot of a batch. */
    ByteBuffer slot(long batch) {
        return slots[(int) (batch % slots.length)];
    }

    /** Marks the slot of a batch as being written. Later writes become visible after it. */
    void begin(long batch) {
        slot(batch).putLong(RingDescriptor.SLOT_SEQUENCE_OFFSET, RingDescriptor.writing(batch));
        VarHandle.storeStoreFence();
    }

    /** Writes the next batch and publishes it. */
    void write(Batch batch) {
        begin(published);
        List<BatchArray> arrays = batch.arrays();
        ByteBuffer slot = slot(published);
        long end = RingDescriptor.dataOffset(arrays.size());
        for (int i = 0; i < arrays.size(); i++) {
            BatchArray array = arrays.get(i);
            end = RingDescriptor.aligned(end, RingDescriptor.DATA_ALIGNMENT);
            writePart(slot, RingDescriptor.partOffset(i), end, array);
            array.buffer().getBytes(0, slot, (int) end, array.buffer().capacity());
            end += array.byteSize();
        }
        publish(batch);
    }

    /** Returns whether a batch is in the next slot. */
    boolean isInPlace(Batch batch) {
        List<BatchArray> arrays = batch.arrays();
        for (int i = 0; i < arrays.size(); i++) {
            long offset = offsetInSlot(arrays.get(i));
            if (offset < 0 || offset > geometry.slotByteSize() - arrays.get(i).byteSize()) {
                return false;
            }
        }
        return true;
    }

    private long offsetInSlot(BatchArray array) {
        long slot = slotsAddress + published % slots.length * geometry.slotByteSize();
        return array.buffer().addressOffset() - slot;
    }

    /** Publishes the next batch, which is in its slot and was {@link #begin begun}. */
    void publishInPlace(Batch batch) {
        List<BatchArray> arrays = batch.arrays();
        for (int i = 0; i < arrays.size(); i++) {
            BatchArray array = arrays.get(i);
            writePart(slot(published), RingDescriptor.partOffset(i), offsetInSlot(array), array);
        }
        publish(batch);
    }

    private void publish(Batch batch) {
        ByteBuffer slot = slot(published);
        slot.putLong(RingDescriptor.SLOT_EPOCH_OFFSET, batch.epoch())
                .putLong(RingDescriptor.SLOT_NUMBER_OFFSET, batch.number())
                .putLong(RingDescriptor.SLOT_SIZE_OFFSET, batch.size())
                .putLong(RingDescriptor.SLOT_VALID_OFFSET, batch.validSize());
        RingWords.longRelease(slot, RingDescriptor.SLOT_SEQUENCE_OFFSET, RingDescriptor.written(published));
        published++;
        RingWords.longRelease(
                header, RingDescriptor.PUBLISHED_OFFSET, published); // last: a process that sees it sees the batch
    }

    private static void writePart(ByteBuffer slot, int part, long dataOffset, BatchArray array) {
        long[] shape = array.shape();
        slot.putLong(part + RingDescriptor.PART_DATA_OFFSET, dataOffset)
                .putLong(part + RingDescriptor.PART_BYTE_SIZE_OFFSET, array.byteSize())
                .putLong(part + RingDescriptor.PART_RANK_OFFSET, shape.length);
        for (int i = 0; i < shape.length; i++) {
            slot.putLong(part + RingDescriptor.PART_SHAPE_OFFSET + i * Long.BYTES, shape[i]);
        }
    }

    /** Marks the consumer with this ticket as dropped. Later writes become visible after it. */
    void markDropped(int seat, long ticket) {
        RingWords.longRelease(header, RingDescriptor.droppedOffset(seat), ticket);
        // Before its slots are overwritten: a consumer that finds an overwritten batch also finds that it was dropped.
        VarHandle.fullFence();
    }

    /** Ends the ring with a failure. */
    void end(LarderException failure) {
        byte[] message = String.valueOf(failure.getMessage()).getBytes(StandardCharsets.UTF_8);
        int length = Math.min(message.length, RingDescriptor.MESSAGE_LIMIT);
        header.put(RingDescriptor.MESSAGE_OFFSET, message, 0, length)
                .putInt(RingDescriptor.MESSAGE_LENGTH_OFFSET, length);
        RingWords.intRelease(header, RingDescriptor.STATE_OFFSET, RingDescriptor.STATE_FAILED);
    }

    /** Ends the ring without a failure. */
    void end() {
        RingWords.intRelease(header, RingDescriptor.STATE_OFFSET, RingDescriptor.STATE_ENDED);
    }

    @Override
    public void close() {
        memory.close();
    }
}
