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
 * The slots of a ring that a loader fills: batch q in slot q % slot count, so that publishing copies nothing. A published batch stays
 * open, and its slot full, until no consumer needs it.
 */
final class RingSlots {
    private final RingWriter writer;
    private final int count;

    /** Published batches that a consumer may still need, the oldest first. */
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

    /** Returns the bytes that the arrays take in a slot. */
    static long slotBytes(List<SlotProvider.Part> arrays) {
        long end = RingDescriptor.dataOffset(arrays.size());
        for (SlotProvider.Part array : arrays) {
            end = RingDescriptor.aligned(end, HostMemory.ALIGNMENT) + Math.max(1, array.byteSize());
        }
        return end;
    }

    /** Returns an allocator for each slot; it places the arrays one after the other, each on pages of its own. */
    static List<HostAllocator> allocators(RingWriter writer) {
        List<HostAllocator> allocators = new ArrayList<>();
        for (int slot = 0; slot < writer.geometry().slots(); slot++) {
            allocators.add(new SlotAllocator(
                    writer.slot(slot), writer.geometry().arrays().size()));
        }
        return allocators;
    }

    /** Returns the first batch with a slot that the loader must not fill yet. */
    long released() {
        return released;
    }

    /** Returns whether it is time to check which slots the consumers no longer need: half of them are held. */
    boolean areManyHeld() {
        return 2 * held.size() >= count;
    }

    /** Returns whether the loader has no slot to fill. */
    boolean areAllHeld() {
        return held.size() == count;
    }

    /** Gives the loader the slots of the batches before {@code granted}. */
    void release(long granted) {
        while (released < granted && !held.isEmpty()) {
            writer.begin(released); // before the loader writes there, so that a late consumer notices
            released++;
            held.removeFirst().close();
        }
    }

    /** Publishes a batch, which has to be in the next slot. */
    void publish(Batch batch) {
        if (!writer.isInPlace(batch)) {
            throw new IllegalArgumentException("batch is not in the next slot: epoch=" + batch.epoch()
                    + " batch=" + batch.number()
                    + "; publish all batches of the loader that was built into the slots, and no others");
        }
        held.addLast(batch);
        writer.publishInPlace(batch);
    }

    /** Returns all slots to the loader. */
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
