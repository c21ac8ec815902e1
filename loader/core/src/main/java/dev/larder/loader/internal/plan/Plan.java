package dev.larder.loader.internal.plan;

import dev.larder.loader.internal.slot.BatchSlot;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.Remainder;
import dev.larder.loader.sample.Shard;
import java.util.concurrent.atomic.AtomicLong;
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
    public abstract void fillIndices(HostSlot slot);

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
            long turns = Math.multiplyExact(batch.number + 1, unitsOfBatch());
            left = rest.after(Math.min(rest.count(units()), Math.multiplyExact(turns, (long) shard.world())));
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
