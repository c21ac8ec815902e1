package dev.larder.loader;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.loader.sample.BatchOrder;
import dev.larder.loader.sample.Shard;

/** Deals out the batches of a {@link dev.larder.loader.sample.BatchSampler}, whole, so that every rank has equally many. */
final class WholeBatchPlan extends Plan {
    private final BatchOrder order;
    private final Shard shard;
    private final long orderBatches;
    private final long orderSamples;
    private final long start;
    private final long end;

    private WholeBatchPlan(long epoch, BatchOrder order, Shard shard, long start, long end) {
        super(epoch);
        this.order = order;
        this.shard = shard;
        this.orderBatches = order.batches();
        this.orderSamples = order.first(orderBatches);
        this.start = start;
        this.end = end;
    }

    /** Plans an epoch from its beginning. */
    static WholeBatchPlan whole(long epoch, BatchOrder order, Shard shard) {
        long batches = order.batches();
        long end = shard.tail() == Shard.Tail.EXACT ? batches : shard.count(batches) * shard.world();
        return new WholeBatchPlan(epoch, order, shard, 0, end);
    }

    /** Plans what is left of an epoch of {@code length} samples after {@code consumed} of them, which must be whole batches. */
    static WholeBatchPlan rest(long epoch, BatchOrder order, Shard shard, long consumed, long length) {
        WholeBatchPlan all = new WholeBatchPlan(epoch, order, shard, 0, 0);
        Shard keeping = SamplePlan.Batching.keepingAll(shard);
        return new WholeBatchPlan(epoch, order, keeping, all.batchAt(consumed), all.batchAt(length));
    }

    /** Returns the batch that begins at a position. */
    private long batchAt(long position) {
        if (position == 0) {
            return 0;
        }
        long rounds = orderSamples == 0 ? 0 : position / orderSamples;
        long wanted = position - rounds * orderSamples;
        long low = 0;
        long high = orderBatches;
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (order.first(middle) < wanted) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (orderSamples == 0 || order.first(low) != wanted) {
            throw Failure.of(ErrorCode.BAD_INPUT, "no batch begins at this place of the epoch")
                    .with("epoch", epoch())
                    .with("sample", position)
                    .remedy("resume with the batch sampler that the state was saved with");
        }
        return rounds * orderBatches + low;
    }

    /** Returns how many samples come before a batch, which may lie beyond the last one. */
    private long first(long batch) {
        return orderBatches == 0 ? 0 : batch / orderBatches * orderSamples + order.first(batch % orderBatches);
    }

    @Override
    long batches() {
        return shard.turns(end - start);
    }

    @Override
    long samples() {
        long sum = 0;
        for (long n = 0; n < shard.count(end - start); n++) {
            sum += order.size((start + shard.unit(n)) % orderBatches);
        }
        return sum;
    }

    @Override
    void lay(Slot slot) {
        if (slot.batch >= shard.count(end - start)) {
            slot.resize(0);
            return;
        }
        long unit = start + shard.unit(slot.batch);
        long batch = unit % orderBatches;
        int size = order.size(batch);
        long from = order.first(batch);
        slot.resize(size);
        slot.valid = unit < orderBatches ? size : 0;
        for (int i = 0; i < size; i++) {
            slot.laid = i;
            slot.positions[i] = unit / orderBatches * orderSamples + from + i;
            slot.rows[i] = order.row(from + i);
        }
    }

    @Override
    long consumedAfter(long batch) {
        return first(Math.min(end, start + (batch + 1) * shard.world()));
    }

    @Override
    long length() {
        return first(end);
    }
}
