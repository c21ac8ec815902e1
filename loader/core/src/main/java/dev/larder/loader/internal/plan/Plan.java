package dev.larder.loader.internal.plan;

import dev.larder.loader.internal.slot.BatchSlot;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.Receipt;
import dev.larder.loader.internal.slot.Remainder;
import dev.larder.loader.sample.Shard;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The samples of each batch of one rank, in one epoch or the rest of it. Every started epoch has its own object, compared by identity.
 *
 * <p>Positions count the samples of an epoch for all ranks together. Positions beyond the last sample wrap around to
 * the start, which pads the last turn of the ranks.
 */
public abstract class Plan implements Remainder {
    final Shard shard;
    final Rest rest;
    private final long epoch;
    private final AtomicLong skipped = new AtomicLong();

    /** The number of samples that were consumed before it. */
    private final long consumedBefore;

    /** The receipt of those samples; null if it is unknown. */
    private volatile @Nullable Receipt receiptBefore = Receipt.NONE;

    /** The number of units in {@link #summedTerms}: of all ranks, or of this one if batches come in any order. Guarded by this. */
    private long summedUnits;

    private long summedTerms;

    Plan(long epoch, Shard shard, Rest rest, long consumedBefore) {
        this.epoch = epoch;
        this.shard = shard;
        this.rest = rest;
        this.consumedBefore = consumedBefore;
    }

    public final long epoch() {
        return epoch;
    }

    /** Returns the number of batches of this rank, the same for all ranks. */
    public abstract long batches();

    /** Returns the number of samples in all batches of this rank. */
    public abstract long samples();

    /** Writes the rows and positions of a batch, and the progress after it, to its slot. */
    public abstract void fill(HostSlot slot);

    /**
     * Returns the sum of the receipt's terms of each unit's samples, without padding. After {@link #release}, the sampler makes the order
     * again.
     */
    abstract LongUnaryOperator terms();

    /** Returns the order, or null after {@link #release}. */
    abstract @Nullable Object order();

    /** Drops the order, which may take much memory, at the end of the epoch. Values for batches that are still open remain. */
    public abstract void release();

    /** Returns the order; fails after {@link #release}. */
    final <T> T requireOrder(@Nullable T order) {
        if (order == null) {
            throw new IllegalStateException("epoch has ended: epoch=" + epoch);
        }
        return order;
    }

    /** Returns the number of samples of the epoch for all ranks together, including padding of the last turn. */
    public abstract long length();

    /** Counts a failed sample; returns the number of failed samples. */
    public final long skip() {
        return skipped.incrementAndGet();
    }

    /** Returns the receipt of the samples that were consumed before it, from the order. */
    public final Receipt receiptOfOrder() {
        LongUnaryOperator terms = terms();
        long sum = 0;
        for (long unit = 0; unit < rest.reached(); unit++) {
            sum += terms.applyAsLong(unit);
        }
        for (long n = 0; n < rest.count(rest.reached()); n++) {
            sum -= terms.applyAsLong(rest.unit(n));
        }
        return new Receipt(sum, 0);
    }

    /** Sets the receipt of the samples that were consumed before it; null if it is unknown. */
    public final void continueReceipt(@Nullable Receipt before) {
        receiptBefore = before;
    }

    @Override
    public final @Nullable Receipt receipt(BatchSlot batch, boolean inOrder, Receipt start) {
        Receipt before = receiptBefore;
        if (before == null) {
            return null;
        }
        long terms = inOrder ? firstTerms(unitsAfter(batch), true) : takenTerms(batch);
        Receipt taken = new Receipt(terms, batch.takenSkippedTerms);
        if (shard.rank() == 0) {
            return taken.plus(before).plus(start);
        }
        // One rank counts the samples that were skipped before.
        return inOrder ? taken.plus(new Receipt(before.visited() + start.visited(), 0)) : taken;
    }

    /** Returns the sum of the terms of the batches that this rank has taken, which come in any order. */
    private long takenTerms(BatchSlot batch) {
        long taken = firstTerms(ownUnits(batch.taken), false);
        if (batch.missingCount > 0) {
            LongUnaryOperator terms = terms();
            for (int i = 0; i < batch.missingCount; i++) {
                long missing = batch.missing[i];
                taken -= sum(terms, ownUnits(missing), ownUnits(missing + 1), false);
            }
        }
        return taken;
    }

    /** Returns the number of units in the first batches of this rank, without padding. */
    private long ownUnits(long batches) {
        long own = ceilDiv(Math.max(0, rest.count(units()) - shard.rank()), shard.world());
        return Math.min(own, Math.multiplyExact(batches, unitsOfBatch()));
    }

    /** Returns the sum of the terms of the first units: of all ranks, or of this one. It adds those since the last call. */
    private synchronized long firstTerms(long units, boolean ofAllRanks) {
        if (units < summedUnits) { // for a batch before the last one
            summedUnits = 0;
            summedTerms = 0;
        }
        if (units > summedUnits) {
            summedTerms += sum(terms(), summedUnits, units, ofAllRanks);
            summedUnits = units;
        }
        return summedTerms;
    }

    private long sum(LongUnaryOperator terms, long from, long to, boolean ofAllRanks) {
        long sum = 0;
        for (long n = from; n < to; n++) {
            sum += terms.applyAsLong(rest.unit(ofAllRanks ? n : shard.unit(n)));
        }
        return sum;
    }

    /** Returns the number of units that all ranks have consumed after a batch, if it is delivered in order. */
    private long unitsAfter(BatchSlot batch) {
        long turns = Math.multiplyExact(batch.number + 1, unitsOfBatch());
        return Math.min(rest.count(units()), Math.multiplyExact(turns, (long) shard.world()));
    }

    /** Returns the number of units in a batch of a rank. */
    abstract long unitsOfBatch();

    /** Returns the number of all units; {@link #rest} has the remaining ones. */
    abstract long units();

    @Override
    public final long consumed(BatchSlot batch, boolean inOrder) {
        return inOrder ? batch.consumed : consumedBefore + batch.takenSamples;
    }

    @Override
    public final String progress(BatchSlot batch, boolean inOrder) {
        Rest left;
        if (inOrder) {
            left = rest.after(unitsAfter(batch));
        } else {
            RankProgress taken = new RankProgress(
                    rest,
                    consumedBefore,
                    shard.rank(),
                    shard.world(),
                    unitsOfBatch(),
                    batch.taken,
                    batch.missingInOrder());
            if (shard.world() > 1) {
                return taken.toString();
            }
            left = taken.rest(units());
        }
        return left.hasGaps() ? left.toString() : "";
    }

    public static long ceilDiv(long dividend, long divisor) {
        return dividend / divisor + (dividend % divisor == 0 ? 0 : 1);
    }
}
