package dev.larder.loader.internal.plan;

import dev.larder.loader.internal.slot.BatchSlot;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.Remainder;
import dev.larder.loader.sample.Shard;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Says which samples each batch of one rank holds, in one epoch or what is left of it. One object per epoch begun: its identity
 * counts.
 *
 * <p>Positions count the samples of an epoch for all ranks together. A position beyond the last sample stands for one from the
 * start again, which fills up the last turn of the ranks.
 */
public abstract class Plan implements Remainder {
    final Shard shard;
    final Rest rest;
    private final long epoch;
    private final AtomicLong skipped = new AtomicLong();

    /** How many samples were consumed when it began. */
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

    /** Returns how many batches this rank has: as many as every other. */
    public abstract long batches();

    /** Returns how many samples all batches of this rank have together. */
    public abstract long samples();

    /** Lays down rows and positions of a batch in its slot, and how far training has come after it. */
    public abstract void fillIndices(HostSlot slot);

    /** Returns the order; nothing where it was given up. */
    abstract @Nullable Object order();

    /** Gives up the order, which may take much memory: the epoch has ended. What batches that are still open ask for stays known. */
    public abstract void release();

    /** Returns an order that has not been given up. */
    final <T> T requireOrder(@Nullable T order) {
        if (order == null) {
            throw new IllegalStateException("epoch has ended: epoch=" + epoch);
        }
        return order;
    }

    /** Returns how many samples of the epoch all ranks together visit, those that fill up the last turn included. */
    public abstract long length();

    /** Counts a sample that could not be had, and returns how many there are now. */
    public final long skip() {
        return skipped.incrementAndGet();
    }

    /** Returns how many units a batch of a rank has. */
    abstract long unitsOfBatch();

    /** Returns how many units there are in all, of which {@link #rest} is what is left. */
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
