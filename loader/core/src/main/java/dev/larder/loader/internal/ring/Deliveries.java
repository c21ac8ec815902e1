package dev.larder.loader.internal.ring;

import dev.larder.loader.internal.slot.BatchSlot;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A pool of {@link DeliveredBatch} objects: batches need no allocation, and a closed object remains recognisable.
 *
 * <p>An object is reused only after many others. Until then, a caller that still holds the closed batch gets an exception, not the data
 * of another batch. A kept object is never reused, because a late {@code close()} of its holder could close another batch; a new object
 * replaces it.
 *
 * <p>Guarded by the lock of the pipeline.
 */
public final class Deliveries {
    /** The least number of other batches before a batch object of the host is reused. */
    public static final int REST = 256;

    private final Supplier<DeliveredBatch> fresh;
    private final int rest;

    /** The open objects, at most one for each slot. */
    private final List<DeliveredBatch> open;

    /** The closed objects, the one closed first at the head. */
    private final ArrayDeque<DeliveredBatch> resting;

    /**
     * Creates all objects.
     *
     * @param rest the least number of others before an object is reused; with 0, none ever is
     */
    public Deliveries(DeliveredBatch.Lender lender, int slots, int rest) {
        this.fresh = () -> new DeliveredBatch(lender);
        this.rest = rest;
        this.open = new ArrayList<>(slots);
        this.resting =
                new ArrayDeque<>(Stream.generate(fresh).limit(rest + slots).toList());
    }

    /** Opens an object on a filled slot. */
    public DeliveredBatch open(BatchSlot slot, boolean kept) {
        DeliveredBatch delivery = resting.removeFirst();
        open.add(delivery);
        delivery.open(slot, kept);
        return delivery;
    }

    /** Closes an object and returns its slot, or null if it was closed before. */
    public @Nullable BatchSlot close(DeliveredBatch delivery) {
        if (!delivery.isOpen()) {
            return null;
        }
        open.remove(delivery);
        resting.addLast(rest == 0 || delivery.isHeld() ? fresh.get() : delivery);
        return delivery.invalidate();
    }

    /** Returns a copy of the list of open objects. */
    public List<DeliveredBatch> allOpen() {
        return List.copyOf(open);
    }

    int openCount() {
        return open.size();
    }
}
