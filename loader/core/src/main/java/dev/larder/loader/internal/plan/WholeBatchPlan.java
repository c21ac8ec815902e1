package dev.larder.loader.internal.plan;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.sample.BatchOrder;
import dev.larder.loader.sample.Shard;
import org.jspecify.annotations.Nullable;

/** Deals out the batches of a {@link dev.larder.loader.sample.BatchSampler}, whole, so that every rank has equally many. */
final class WholeBatchPlan extends Plan {
    private volatile @Nullable BatchOrder order;
    private final Shard shard;
    private final long orderBatches;
    private final long orderSamples;
    private final long start;
    private final long end;
    private final long samples;
    private final long length;

    private WholeBatchPlan(long epoch, BatchOrder order, Shard shard, long start, long end) {
        super(epoch);
        this.order = order;
        this.shard = shard;
        this.orderBatches = order.batches();
        this.orderSamples = order.first(orderBatches);
        this.start = start;
        this.end = end;
        this.samples = countSamples(order);
        this.length = first(order, end);
    }

    /** Plans an epoch from its beginning. */
    static WholeBatchPlan whole(long epoch, BatchOrder order, Shard shard) {
        long batches = order.batches();
        long end = shard.tail() == Shard.Tail.EXACT ? batches : shard.count(batches) * shard.world();
        return new WholeBatchPlan(epoch, order, shard, 0, end);
    }

    /** Plans what is left of an epoch of {@code length} samples after {@code consumed} of them, which must be whole batches. */
    static WholeBatchPlan rest(long epoch, BatchOrder order, Shard shard, long consumed, long length) {
        Shard keeping = SamplePlan.Batching.keepingAll(shard);
        return new WholeBatchPlan(
                epoch, order, keeping, batchAt(epoch, order, consumed), batchAt(epoch, order, length));
    }

    /** Returns the batch that begins at a position. */
    private static long batchAt(long epoch, BatchOrder order, long position) {
        if (position == 0) {
            return 0;
        }
        long batches = order.batches();
        long samples = order.first(batches);
        long rounds = samples == 0 ? 0 : position / samples;
        long wanted = position - rounds * samples;
        long low = 0;
        long high = batches;
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (order.first(middle) < wanted) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (samples == 0 || order.first(low) != wanted) {
            throw Failure.of(ErrorCode.BAD_INPUT, "no batch begins at this place of the epoch")
                    .with("epoch", epoch)
                    .with("sample", position)
                    .remedy("resume with the batch sampler that the state was saved with");
        }
        return rounds * batches + low;
    }

    /** Returns how many samples come before a batch, which may lie beyond the last one. */
    private long first(BatchOrder batches, long batch) {
        return orderBatches == 0 ? 0 : batch / orderBatches * orderSamples + batches.first(batch % orderBatches);
    }

    /** Counts once what trainers ask for with every batch. */
    private long countSamples(BatchOrder batches) {
        long sum = 0;
        for (long n = 0; n < shard.count(end - start); n++) {
            sum += batches.size((start + shard.unit(n)) % orderBatches);
        }
        return sum;
    }

    @Override
    public long batches() {
        return shard.turns(end - start);
    }

    @Override
    public long samples() {
        return samples;
    }

    @Override
    public void fillIndices(HostSlot slot) {
        BatchOrder batches = requireOrder(order);
        slot.consumed = first(batches, Math.min(end, start + (slot.number + 1) * shard.world()));
        if (slot.number >= shard.count(end - start)) {
            slot.resize(0);
            return;
        }
        long unit = start + shard.unit(slot.number);
        long batch = unit % orderBatches;
        int size = batches.size(batch);
        long from = batches.first(batch);
        slot.resize(size);
        slot.valid =
                unit < Math.min(orderBatches, end) ? size : 0; // beyond the end are those that fill up the last turn
        for (int i = 0; i < size; i++) {
            slot.cursor = i;
            slot.positions[i] = unit / orderBatches * orderSamples + from + i;
            slot.rows[i] = batches.row(from + i);
        }
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
