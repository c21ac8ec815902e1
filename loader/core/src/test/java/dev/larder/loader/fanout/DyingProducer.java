package dev.larder.loader.fanout;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.MappedMemory;
import dev.larder.internal.posix.Posix;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/** A producer of several rings that stops in another step of the protocol in each, and waits to be killed. */
final class DyingProducer {
    private static final int SLOTS = 2;
    private static final int PUBLISHED = 3;

    private DyingProducer() {}

    /** The last step that the producer of a ring finishes. */
    enum Step {
        CLAIMED,
        BEGUN,
        HALF_WRITTEN,
        WRITTEN,
        MESSAGE_WRITTEN;

        String ring() {
            return "run-" + name().toLowerCase(Locale.ROOT);
        }
    }

    /** Argument: store. */
    @SuppressWarnings("SystemOut") // what its parent reads
    public static void main(String[] arguments) {
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                Dataset dataset = larder.dataset("pictures");
                Loader loader = Loader.over(dataset)
                        .arrays("images", "labels")
                        .shuffle(42)
                        .batchSize(64)
                        .build()) {
            for (Step step : Step.values()) {
                stopAfter(step, new StoreLayout(larder.store()), loader.epoch(0).iterator());
            }
            System.out.println("stopped");
            while (true) {
                LockSupport.park();
            }
        }
    }

    private static void stopAfter(Step step, StoreLayout store, Iterator<Batch> batches) {
        Batch batch = batches.next();
        int slotBytes = (int) RingDescriptor.aligned(RingWriter.slotBytes(batch), RingDescriptor.PAGE_LENGTH);
        RingFolder folder = RingFolder.claim(Posix.system(), store, step.ring(), 1);
        RingGeometry geometry = new RingGeometry(RingWriter.arraysOf(batch), SLOTS, 1, slotBytes);
        MappedMemory memory = folder.makeRing(geometry, slotBytes);
        RingWriter writer = new RingWriter(memory, geometry, slotBytes, folder::reserveMore);
        writer.claim(PUBLISHED);
        for (int q = 0; q < PUBLISHED; q++) {
            writer.write(batch);
            batch = batches.next();
        }
        writer.claim(PUBLISHED + 1);
        take(step, writer, memory.buffer(0, RingDescriptor.PAGE_LENGTH));
    }

    /** Takes the steps up to this one in the slot of the next batch. */
    private static void take(Step step, RingWriter writer, ByteBuffer header) {
        if (step == Step.MESSAGE_WRITTEN) {
            header.put(RingDescriptor.MESSAGE_OFFSET, new byte[] {'b', 'a', 'd'})
                    .putInt(RingDescriptor.MESSAGE_LENGTH_OFFSET, 3);
            return;
        }
        if (step.compareTo(Step.BEGUN) >= 0) {
            writer.begin(PUBLISHED);
        }
        ByteBuffer slot = writer.slot(PUBLISHED);
        if (step.compareTo(Step.HALF_WRITTEN) >= 0) {
            slot.put(RingDescriptor.SLOT_EPOCH_OFFSET, new byte[slot.capacity() / 2]);
        }
        if (step.compareTo(Step.WRITTEN) >= 0) {
            RingWords.longRelease(slot, RingDescriptor.SLOT_SEQUENCE_OFFSET, RingDescriptor.written(PUBLISHED));
        }
    }
}
