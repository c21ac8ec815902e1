package dev.larder.loader;

import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The batches of one epoch on their devices, in the order of the sampler; uploaded ahead from the moment the epoch begins.
 *
 * <p>For one consuming thread, as {@link Epoch}.
 */
public final class DeviceEpoch implements Iterable<DeviceBatch>, AutoCloseable {
    private final DeviceLoader loader; // keeps the loader reachable while this is in use
    private final DeviceFeed feed;
    private final Plan plan;
    private boolean iterated;

    DeviceEpoch(DeviceLoader loader, DeviceFeed feed, Plan plan) {
        this.loader = loader;
        this.feed = feed;
        this.plan = plan;
    }

    /** Returns the number of the epoch. */
    public long number() {
        return plan.epoch();
    }

    /** Returns how many batches the epoch has for this rank, or what is left of it. */
    public long batches() {
        return plan.batches();
    }

    /** Returns how many samples its batches have together. */
    public long samples() {
        return plan.samples();
    }

    /**
     * Returns the one iterator of this epoch. Its {@code next} closes the batch before, unless that is kept, and waits until the next
     * one was given to its devices: at most for the loader's timeout, then it fails with {@code DEADLINE}. What keeps a batch from
     * being made is thrown in the batch's place; a device that failed fails everything after it.
     */
    @Override
    public Iterator<DeviceBatch> iterator() {
        if (iterated) {
            throw new IllegalStateException(
                    "an epoch can be iterated once; begin it again with loader.epoch(" + number() + ")");
        }
        iterated = true;
        return new Batches();
    }

    /** Ends the epoch, and closes its batches but for those kept. Idempotent. */
    @Override
    public void close() {
        feed.end(plan);
    }

    @Override
    public String toString() {
        return "DeviceEpoch{" + number() + " of " + loader + "}";
    }

    private final class Batches implements Iterator<DeviceBatch> {
        private long next;

        @Override
        public boolean hasNext() {
            return next < plan.batches();
        }

        @Override
        public DeviceBatch next() {
            if (!hasNext()) {
                throw new NoSuchElementException("epoch has no more batches: batches=" + plan.batches());
            }
            DeviceBatch batch = feed.next(plan);
            next++;
            return batch;
        }
    }
}
