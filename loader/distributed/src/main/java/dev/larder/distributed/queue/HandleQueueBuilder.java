package dev.larder.distributed.queue;

import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.RegionSpec;
import dev.larder.distributed.region.Regions;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.time.Duration;

/** Describes a queue, as all its members do; see {@link HandleQueue#builder}. */
public final class HandleQueueBuilder {
    private final Regions regions;
    private final String name;
    private int capacity = 64;
    private int buffers;
    private long bufferBytes;
    private int producers = 1;
    private boolean redelivers;

    HandleQueueBuilder(Regions regions, String name) {
        this.regions = regions;
        this.name = name;
    }

    /** Sets the most handles in the queue; 64 by default. */
    public HandleQueueBuilder capacity(int handles) {
        capacity = handles;
        return this;
    }

    /** Sets the number of its own buffers; none by default. */
    public HandleQueueBuilder buffers(int count) {
        buffers = count;
        return this;
    }

    /** Sets the size of a buffer, up to 2 GiB. */
    public HandleQueueBuilder bufferBytes(long byteSize) {
        bufferBytes = byteSize;
        return this;
    }

    /** Sets the number of producers that finish before the end; one by default. */
    public HandleQueueBuilder producers(int count) {
        producers = count;
        return this;
    }

    /** Puts the handles of dead consumers again: handles arrive at least once, and not always in order. */
    public HandleQueueBuilder redeliver() {
        redelivers = true;
        return this;
    }

    /**
     * Joins the queue, and creates it if there is none, or only one that was ended, is empty and has no members. REFUSED if another queue
     * has the name.
     */
    public HandleQueue openOrCreate(Duration timeout) {
        QueueSpec spec = new QueueSpec(capacity, buffers, bufferBytes, producers, redelivers);
        while (true) {
            Region region = openAny(spec, timeout);
            boolean isMine = false;
            try {
                if (HandleQueue.isOver(region)) {
                    regions.remove(region); // by its id: several members that find it all join the next one
                    continue;
                }
                requireSame(QueueSpec.read(region), spec);
                isMine = true;
            } finally {
                if (!isMine) {
                    region.close();
                }
            }
            return HandleQueue.over(regions, region);
        }
    }

    /** Opens the queue of this name, or the remains of another run. */
    private Region openAny(QueueSpec spec, Duration timeout) {
        RegionSpec wanted = new RegionSpec(name, QueueDescriptor.KIND, spec.byteSize());
        try {
            return regions.openOrCreate(wanted, spec::write, timeout);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.REFUSED) { // for its size or kind; the caller has a better message for a queue
                return regions.open(name, QueueDescriptor.KIND, timeout);
            }
            throw e;
        }
    }

    private void requireSame(QueueSpec found, QueueSpec wanted) {
        if (!found.equals(wanted)) {
            throw Failure.of(ErrorCode.REFUSED, "a different queue has this name")
                    .with("name", name)
                    .with("found", found)
                    .with("wanted", wanted)
                    .remedy("choose another name, or open it with its own settings");
        }
    }
}
