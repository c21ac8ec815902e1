package dev.larder.loader.fanout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.loader.Batch;
import dev.larder.loader.internal.device.HostAllocator;
import dev.larder.loader.internal.device.HostMemory;
import dev.larder.loader.internal.device.SlotProvider;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The slots of a ring while a loader gathers its batches there: batch q in slot q % slot count, so that publishing it copies nothing.
 * A published batch stays open, and its slot full, until no consumer needs it any more.
 */
final class RingSlots {
    private final RingWriter writer;
    private final int count;

    /** Published batches that some consumer may still need, the oldest first. */
    private final ArrayDeque<Batch> held = new ArrayDeque<>();

    /** The loader may fill the slots of the batches before this one. */
    private long released;

    /** Gives the loader all slots; the ring is new. */
    RingSlots(RingWriter writer) {
        this.writer = writer;
        this.count = writer.geometry().slots();
        writer.claim(count);
        for (; released < count; released++) {
            writer.begin(released);
        }
    }

    /** Returns how many bytes of a slot the arrays take. */
    static long slotBytes(List<SlotProvider.Part> arrays) {
        long end = RingDescriptor.dataOffset(arrays.size());
        for (SlotProvider.Part array : arrays) {
            end = RingDescriptor.aligned(end, HostMemory.ALIGNMENT) + Math.max(1, array.byteSize());
        }
        return end;
    }

    /** Returns what allocates the arrays of each slot: one after the other, each on a page of its own. */
    static List<HostAllocator> allocators(RingWriter writer) {
        List<HostAllocator> allocators = new ArrayList<>();
        for (int slot = 0; slot < writer.geometry().slots(); slot++) {
            allocators.add(new SlotAllocator(
                    writer.slot(slot), writer.geometry().arrays().size()));
        }
        return allocators;
    }

    /** Returns the first batch whose slot the loader does not have. */
    long released() {
        return released;
    }

    /** Tells whether it is time to look which slots the consumers no longer need. */
    boolean isWorthLooking(int looksPerRound) {
        return held.size() * looksPerRound >= count;
    }

    /** Tells whether the loader has no slot to fill. */
    boolean areAllHeld() {
        return held.size() == count;
    }

    /** Gives the loader the slots of the batches before {@code granted}. */
    void release(long granted) {
        while (released < granted && !held.isEmpty()) {
            writer.begin(released); // before the loader writes there: a consumer that is late sees it
            released++;
            held.removeFirst().close();
        }
    }

    /** Publishes a batch that lies in the slot whose turn it is. */
    void publish(Batch batch) {
        if (!writer.isInPlace(batch)) {
            throw new IllegalArgumentException("batch does not lie in the slot whose turn it is: epoch=" + batch.epoch()
                    + " batch=" + batch.number()
                    + "; publish all batches of the loader that was built into the slots, and no others");
        }
        held.addLast(batch);
        writer.publishInPlace(batch);
    }

    /** Gives every slot back: nobody reads them here any more. */
    void close() {
        while (!held.isEmpty()) {
            held.removeFirst().close();
        }
    }

    /** Divides one slot. */
    private static final class SlotAllocator implements HostAllocator {
        private final ByteBuffer slot;
        private long end;

        SlotAllocator(ByteBuffer slot, int arrays) {
            this.slot = slot;
            this.end = RingDescriptor.dataOffset(arrays);
        }

        @Override
        public HostMemory allocate(long byteSize) {
            long offset = RingDescriptor.aligned(end, HostMemory.ALIGNMENT);
            if (offset > slot.capacity() - byteSize) {
                throw Failure.of(ErrorCode.BAD_INPUT, "a batch does not fit into a slot of the ring")
                        .with("needed", offset + byteSize)
                        .with("slotBytes", slot.capacity())
                        .remedy(
                                "choose smaller batches, or set slotBytes(…) to the size of one, its arrays each on pages of their own");
            }
            end = offset + byteSize;
            ByteBuffer bytes = slot.slice((int) offset, (int) byteSize);
            return new HostMemory() {
                @Override
                public ByteBuffer bytes() {
                    return bytes;
                }

                @Override
                public void close() {
                    // the ring's
                }
            };
        }
    }
}
