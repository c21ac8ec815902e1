package dev.larder.loader.internal.ring;

import dev.larder.loader.internal.slot.BatchSlot;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Hands out {@link DeliveredBatch} objects in turn, so that none is created per batch and a closed one stays recognisable.
 *
 * <p>One is used again, but only after at least so many others: whoever still holds a closed batch gets an exception from it until
 * then, not the data of another batch. One that was kept is never used again, as its holder may have it for any time: its close()
 * could close somebody else's batch. A new object takes its place, which only keeping costs.
 *
 * <p>Guarded by whoever lends them.
 */
public final class Deliveries {
    /** How many batches a closed batch object of the host rests at least. */
    public static final int REST = 256;

    private final Supplier<DeliveredBatch> fresh;
    private final int rest;

    /** Those that are open; at most as many as there are slots. */
    private final List<DeliveredBatch> open;

    /** Those that are closed, the one that has rested longest first. */
    private final ArrayDeque<DeliveredBatch> resting;

    /**
     * Makes them all.
     *
     * @param rest how many others come before one is used again; with 0, none ever is
     */
    public Deliveries(DeliveredBatch.Lender lender, int slots, int rest) {
        this.fresh = () -> new DeliveredBatch(lender);
        this.rest = rest;
        this.open = new ArrayList<>(slots);
        this.resting =
                new ArrayDeque<>(Stream.generate(fresh).limit(rest + slots).toList());
    }

    /** Opens one on a filled slot. */
    public DeliveredBatch open(BatchSlot slot, boolean kept) {
        DeliveredBatch delivery = resting.removeFirst();
        open.add(delivery);
        delivery.open(slot, kept);
        return delivery;
    }

    /** Closes one and returns its slot; nothing if it was closed before. */
    public @Nullable BatchSlot close(DeliveredBatch delivery) {
        if (!delivery.isOpen()) {
            return null;
        }
        open.remove(delivery);
        resting.addLast(rest == 0 || delivery.isHeld() ? fresh.get() : delivery);
        return delivery.invalidate();
    }

    /** Returns those that are open, as a list that closing them does not change. */
    public List<DeliveredBatch> allOpen() {
        return List.copyOf(open);
    }

    int openCount() {
        return open.size();
    }
}
