package dev.larder.distributed.queue;

import dev.larder.distributed.region.Region;
import dev.larder.distributed.region.RegionSpec;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.region.SharingStrategy;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.time.Duration;

/** Describes a queue, which all its members describe alike; see {@link HandleQueue#builder}. */
public final class HandleQueueBuilder {
    private final Regions regions;
    private final String name;
    private int capacity = 64;
    private int buffers;
    private long bufferBytes;
    private int producers = 1;
    private boolean redelivers;
    private SharingStrategy strategy = SharingStrategy.FILE;

    HandleQueueBuilder(Regions regions, String name) {
        this.regions = regions;
        this.name = name;
    }

    /** Lets so many handles be in it at the most; 64 unless said otherwise. */
    public HandleQueueBuilder capacity(int handles) {
        capacity = handles;
        return this;
    }

    /** Gives it so many buffers of its own; none unless said otherwise. */
    public HandleQueueBuilder buffers(int count) {
        buffers = count;
        return this;
    }

    /** Makes each buffer so large, up to 2 GiB. */
    public HandleQueueBuilder bufferBytes(long byteSize) {
        bufferBytes = byteSize;
        return this;
    }

    /** Lets it end once so many producers have finished; one unless said otherwise. */
    public HandleQueueBuilder producers(int count) {
        producers = count;
        return this;
    }

    /** Puts again what a consumer had taken that died: handles come at least once, and not always in order. */
    public HandleQueueBuilder redeliver() {
        redelivers = true;
        return this;
    }

    /** Chooses where the memory comes from. */
    public HandleQueueBuilder strategy(SharingStrategy choice) {
        strategy = choice;
        return this;
    }

    /**
     * Becomes a member of the queue, and makes it first where there is none, or one that was ended, is empty and has no members; REFUSED
     * where another has the name.
     */
    public HandleQueue openOrCreate(Duration timeout) {
        QueueSpec spec = new QueueSpec(capacity, buffers, bufferBytes, producers, redelivers);
        while (true) {
            Region region = openAny(spec, timeout);
            boolean isMine = false;
            try {
                if (HandleQueue.isOver(region)) {
                    regions.remove(region); // by its id: of several who find it so, all get the one that follows
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

    /** Opens the queue of this name, or what another run has left. */
    private Region openAny(QueueSpec spec, Duration timeout) {
        RegionSpec wanted = new RegionSpec(name, QueueDescriptor.KIND, spec.byteSize(), strategy);
        try {
            return regions.openOrCreate(wanted, spec::write, timeout);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.REFUSED) { // for its size or kind; where it is a queue, there are better words
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
