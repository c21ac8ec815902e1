package dev.larder.loader.internal.plan;

import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.Receipt;
import dev.larder.loader.sample.LastBatch;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Shard;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Divides samples among ranks one by one, as PyTorch's {@code DistributedSampler} does, and cuts a rank's samples into batches. */
public final class SamplePlan extends Plan {
    private final Supplier<SampleOrder> orders;
    private volatile @Nullable SampleOrder order;
    private final int batchSize;
    private final long orderLength;
    private final long length;
    private final long left;
    private final long samples;
    private final long batches;

    private SamplePlan(
            long epoch, Supplier<SampleOrder> orders, SampleOrder order, Batching batching, Rest rest, long end) {
        super(epoch, batching.shard(), rest, end - rest.count(end));
        this.orders = orders;
        this.order = order;
        this.batchSize = batching.size();
        this.orderLength = order.length();
        long unvisited = rest.count(end);
        long own = shard.count(unvisited);
        boolean drops = batching.last() == LastBatch.DROP;
        this.batches = drops ? own / batchSize : ceilDiv(shard.turns(unvisited), batchSize);
        this.samples = batching.last() == LastBatch.SHORT ? own : Math.multiplyExact(batches, (long) batchSize);
        this.length = drops ? lengthOf(rest, unvisited, end) : end;
        this.left = rest.count(length);
    }

    /** Returns the length of the epoch without the remaining samples that are omitted. */
    private long lengthOf(Rest rest, long unvisited, long end) {
        long visited = Math.multiplyExact(samples, (long) shard.world());
        return visited < unvisited ? Math.max(rest.unit(visited), rest.reached()) : end;
    }

    /**
     * The settings for batches of samples.
     *
     * @param isResumedWhole whether the rest of a stopped epoch is visited to its last sample, independent of {@code last}
     */
    public record Batching(int size, LastBatch last, boolean isResumedWhole, Shard shard) {
        /** Returns the settings for the rest of a stopped epoch, whose length excludes omitted samples. */
        Batching resumed() {
            if (last == LastBatch.DROP && !isResumedWhole) {
                return this;
            }
            return new Batching(
                    size, last == LastBatch.DROP ? LastBatch.SHORT : last, isResumedWhole, keepingAll(shard));
        }

        static Shard keepingAll(Shard shard) {
            return shard.tail() == Shard.Tail.DROP ? Shard.of(shard.rank(), shard.world()) : shard;
        }

        /** Returns the number of an epoch's samples that all ranks together visit. */
        public long length(long samples) {
            if (shard.tail() == Shard.Tail.EXACT) {
                return samples;
            }
            long own = shard.count(samples);
            return Math.multiplyExact(last == LastBatch.DROP ? own - own % size : own, (long) shard.world());
        }
    }

    /** Plans an epoch from its beginning. {@code orders} makes its order, the same each time. */
    static SamplePlan whole(long epoch, Supplier<SampleOrder> orders, Batching batching) {
        SampleOrder order = orders.get();
        return new SamplePlan(epoch, orders, order, batching, Rest.from(0), batching.length(order.length()));
    }

    /** Plans the rest of an epoch of {@code length} samples. */
    static SamplePlan rest(long epoch, Supplier<SampleOrder> orders, Batching batching, Rest rest, long length) {
        return new SamplePlan(epoch, orders, orders.get(), batching.resumed(), rest, length);
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
    public void fill(HostSlot slot) {
        SampleOrder visited = requireOrder(order);
        long first = slot.number * batchSize;
        int size = (int) Math.max(0, Math.min(batchSize, samples - first));
        slot.resize(size);
        for (int i = 0; i < size; i++) {
            long n = shard.unit(first + i);
            long position = rest.unit(n);
            slot.requireNotEnded();
            slot.cursor = i;
            slot.positions[i] = position;
            slot.rows[i] = visited.row(position < orderLength ? position : position % orderLength);
            slot.valid += n < left && position < orderLength ? 1 : 0;
            slot.counted += n < left ? 1 : 0;
        }
        slot.consumed = length - left + consumedAfter(slot.number);
    }

    /** Returns the number of the remaining samples that all ranks have consumed after a batch. */
    private long consumedAfter(long batch) {
        long turns = Math.min(shard.turns(left), (batch + 1) * batchSize);
        return Math.min(left, Math.multiplyExact(turns, (long) shard.world()));
    }

    @Override
    LongUnaryOperator terms() {
        SampleOrder kept = order;
        SampleOrder visited = kept == null ? orders.get() : kept;
        return position -> position < orderLength ? Receipt.term(position, visited.row(position)) : 0;
    }

    @Override
    long unitsOfBatch() {
        return batchSize;
    }

    @Override
    long units() {
        return length;
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
