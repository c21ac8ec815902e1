package dev.larder.loader.internal.plan;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.Receipt;
import dev.larder.loader.sample.BatchOrder;
import dev.larder.loader.sample.Shard;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Divides the batches of a {@link dev.larder.loader.sample.BatchSampler} among ranks; every rank has the same number. */
final class WholeBatchPlan extends Plan {
    private final Supplier<BatchOrder> orders;
    private volatile @Nullable BatchOrder order;
    private final boolean isPadded;
    private final long orderBatches;
    private final long orderSamples;
    private final long end;
    private final long left;
    private final long samples;
    private final long length;

    private WholeBatchPlan(
            long epoch,
            Supplier<BatchOrder> orders,
            BatchOrder order,
            Dealing dealing,
            Rest rest,
            long end,
            long consumed) {
        super(epoch, dealing.shard(), rest, consumed);
        this.orders = orders;
        this.order = order;
        this.isPadded = dealing.isPadded();
        this.orderBatches = order.batches();
        this.orderSamples = order.first(orderBatches);
        this.end = end;
        this.left = rest.count(end);
        this.samples = countSamples(order);
        this.length = first(order, end);
    }

    /**
     * The settings for the division among ranks.
     *
     * @param isPadded whether ranks without a batch in the last turn get one with samples that do not count, instead of an empty one
     */
    record Dealing(Shard shard, boolean isPadded) {}

    /** Plans an epoch from its beginning. {@code orders} makes its order, the same each time. */
    static WholeBatchPlan whole(long epoch, Supplier<BatchOrder> orders, Dealing dealing) {
        BatchOrder order = orders.get();
        long batches = order.batches();
        Shard shard = dealing.shard();
        long end = shard.tail() == Shard.Tail.EXACT ? batches : shard.count(batches) * shard.world();
        return new WholeBatchPlan(epoch, orders, order, dealing, Rest.from(0), end, 0);
    }

    /** Plans the rest of an epoch of {@code length} samples; without a {@code rest}, {@code consumed} samples are done. */
    static WholeBatchPlan rest(
            long epoch, Supplier<BatchOrder> orders, Dealing dealing, @Nullable Rest rest, long consumed, long length) {
        BatchOrder order = orders.get();
        Dealing keeping = new Dealing(SamplePlan.Batching.keepingAll(dealing.shard()), dealing.isPadded());
        Rest left = rest == null ? Rest.from(batchAt(epoch, order, consumed)) : rest;
        return new WholeBatchPlan(epoch, orders, order, keeping, left, batchAt(epoch, order, length), consumed);
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
            throw Failure.of(ErrorCode.BAD_INPUT, "no batch begins at this position of the epoch")
                    .with("epoch", epoch)
                    .with("sample", position)
                    .remedy("resume with the batch sampler that the state was saved with");
        }
        return rounds * batches + low;
    }

    /** Returns the number of samples before a batch, which may be beyond the last one. */
    private long first(BatchOrder batches, long batch) {
        return orderBatches == 0 ? 0 : batch / orderBatches * orderSamples + batches.first(batch % orderBatches);
    }

    /** Counts the samples of this rank once, because trainers read the number with every batch. */
    private long countSamples(BatchOrder batches) {
        long sum = 0;
        for (long n = 0; n < (isPadded ? batches() : shard.count(left)); n++) {
            sum += batches.size(rest.unit(shard.unit(n)) % orderBatches);
        }
        return sum;
    }

    @Override
    public long batches() {
        return shard.turns(left);
    }

    @Override
    public long samples() {
        return samples;
    }

    @Override
    public void fill(HostSlot slot) {
        BatchOrder batches = requireOrder(order);
        slot.consumed = consumedAfter(batches, Math.min(left, (slot.number + 1) * shard.world()));
        boolean isOwn = slot.number < shard.count(left);
        if (!isOwn && !isPadded) {
            slot.resize(0);
            return;
        }
        long unit = rest.unit(shard.unit(slot.number));
        long batch = unit % orderBatches;
        int size = batches.size(batch);
        long from = batches.first(batch);
        slot.resize(size);
        slot.counted = shard.unit(slot.number) < left ? size : 0;
        slot.valid = isOwn && unit < Math.min(orderBatches, end) ? size : 0; // later ones pad the last turn
        for (int i = 0; i < size; i++) {
            slot.requireNotEnded();
            slot.cursor = i;
            slot.positions[i] = unit / orderBatches * orderSamples + from + i;
            slot.rows[i] = batches.row(from + i);
        }
    }

    /** Returns the number of samples that all ranks have consumed after {@code units} of the remaining batches. */
    private long consumedAfter(BatchOrder batches, long units) {
        Rest after = rest.after(units);
        long passedOver = 0;
        long reached = Math.min(end, after.reached());
        long gaps = after.count(reached);
        for (long n = 0; n < gaps; n++) {
            passedOver += batches.size(after.unit(n) % orderBatches);
        }
        return first(batches, reached) - passedOver;
    }

    @Override
    LongUnaryOperator terms() {
        BatchOrder kept = order;
        BatchOrder batches = kept == null ? orders.get() : kept;
        return unit -> {
            long sum = 0;
            long first = unit < orderBatches ? batches.first(unit) : 0;
            long after = unit < orderBatches ? batches.first(unit + 1) : 0;
            for (long position = first; position < after; position++) {
                sum += Receipt.term(position, batches.row(position));
            }
            return sum;
        };
    }

    @Override
    long unitsOfBatch() {
        return 1;
    }

    @Override
    long units() {
        return end;
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
