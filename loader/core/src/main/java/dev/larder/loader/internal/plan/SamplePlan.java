package dev.larder.loader.internal.plan;

import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Shard;
import org.jspecify.annotations.Nullable;

/** Deals out samples one by one, as PyTorch's {@code DistributedSampler} does, and makes batches of what a rank got. */
public final class SamplePlan extends Plan {
    private volatile @Nullable SampleOrder order;
    private final Shard shard;
    private final int batchSize;
    private final long orderLength;
    private final long start;
    private final long length;
    private final long samples;
    private final long batches;

    private SamplePlan(long epoch, SampleOrder order, Batching batching, long start, long length) {
        super(epoch);
        this.order = order;
        this.shard = batching.shard();
        this.batchSize = batching.size();
        this.orderLength = order.length();
        this.start = start;
        this.length = length;
        long left = length - start;
        long own = shard.count(left);
        this.batches = batching.dropLast() ? own / batchSize : ceilDiv(shard.turns(left), batchSize);
        this.samples = batching.dropLast() ? batches * batchSize : own;
    }

    /** How batches are made of samples. */
    public record Batching(int size, boolean dropLast, Shard shard) {
        /** Returns one that leaves out nothing of what is left of an epoch, as that is without what was left out. */
        Batching keepingAll() {
            return new Batching(size, false, keepingAll(shard));
        }

        static Shard keepingAll(Shard shard) {
            return shard.tail() == Shard.Tail.DROP ? Shard.of(shard.rank(), shard.world()) : shard;
        }

        /** Returns how many of an epoch's samples all ranks together visit. */
        public long length(long samples) {
            if (shard.tail() == Shard.Tail.EXACT) {
                return samples;
            }
            long own = shard.count(samples);
            return Math.multiplyExact(dropLast ? own - own % size : own, shard.world());
        }
    }

    /** Plans an epoch from its beginning. */
    static SamplePlan whole(long epoch, SampleOrder order, Batching batching) {
        return new SamplePlan(epoch, order, batching, 0, batching.length(order.length()));
    }

    /** Plans what is left of an epoch of {@code length} samples after {@code consumed} of them: all of it. */
    static SamplePlan rest(long epoch, SampleOrder order, Batching batching, long consumed, long length) {
        return new SamplePlan(epoch, order, batching.keepingAll(), consumed, length);
    }

    @Override
    public long batches() {
        return batches;
    }

    @Override
    public long samples() {
        return samples;
    }

    @Override
    public void fillIndices(HostSlot slot) {
        SampleOrder visited = requireOrder(order);
        long first = slot.number * batchSize;
        int size = (int) Math.max(0, Math.min(batchSize, samples - first));
        slot.resize(size);
        for (int i = 0; i < size; i++) {
            long position = start + shard.unit(first + i);
            slot.cursor = i;
            slot.positions[i] = position;
            slot.rows[i] = visited.row(position < orderLength ? position : position % orderLength);
            slot.valid += position < Math.min(orderLength, length) ? 1 : 0;
        }
        slot.consumed = consumedAfter(slot.number);
    }

    private long consumedAfter(long batch) {
        long turns = Math.min(shard.turns(length - start), (batch + 1) * batchSize);
        return Math.min(length, start + Math.multiplyExact(turns, shard.world()));
    }

    @Override
    @Nullable
    Object order() {
        return order;
    }

    @Override
    public void release() {
        order = null;
    }

    @Override
    public long length() {
        return length;
    }
}
