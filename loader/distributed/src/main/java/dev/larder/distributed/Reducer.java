package dev.larder.distributed;

import dev.larder.distributed.internal.RankLayout;
import dev.larder.distributed.internal.Slots;
import dev.larder.internal.posix.RawMemory;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Combines the spans of all ranks in the order of the ranks, or of blocks of them: its own from the memory of the caller, others from their
 * slots. For one call at a time.
 */
final class Reducer {
    private static final long BLOCK_START = RawMemory.arrayOffset(byte[].class);

    private final Slots slots;
    private final RankLayout layout;
    private final Map<ElementType, Accumulator> accumulators = new EnumMap<>(ElementType.class);
    private final Map<ElementType, Accumulator> blockAccumulators = new EnumMap<>(ElementType.class);
    private final byte[] blockSum;

    private Span own = Span.NOTHING;
    private Span target = Span.NOTHING;
    private ReduceOp op = ReduceOp.SUM;
    private boolean isShared;

    Reducer(Slots slots, RankLayout layout) {
        this.slots = slots;
        this.layout = layout;
        this.blockSum = new byte[layout.blocks() == 1 ? 0 : Accumulator.BLOCK_BYTE_SIZE];
    }

    /**
     * Begins a call.
     *
     * @param target of the result; none if it is empty
     * @param isShared whether the slot of this rank also gets the result
     */
    void begin(Span own, ReduceOp op, Span target, boolean isShared) {
        this.own = own;
        this.op = op;
        this.target = target;
        this.isShared = isShared;
    }

    /** Returns the accumulator, which is created once, so that later calls allocate nothing. */
    private Accumulator accumulatorOf(ElementType type) {
        Accumulator accumulator = accumulators.get(type);
        if (accumulator == null) {
            accumulator = Accumulator.of(type);
            accumulators.put(type, accumulator);
        }
        return accumulator;
    }

    void end() {
        own = Span.NOTHING;
        target = Span.NOTHING;
    }

    /** Combines bytes that begin at {@code slotOffset} of every slot of a step. */
    void reduce(int step, long slotOffset, long ownOffset, long targetOffset, long length) {
        Accumulator accumulator = accumulatorOf(own.type());
        boolean isWanted = target.byteSize() != 0;
        for (long at = 0; at < length; at += Accumulator.BLOCK_BYTE_SIZE) {
            int byteSize = (int) Math.min(Accumulator.BLOCK_BYTE_SIZE, length - at);
            if (layout.blocks() == 1) {
                combine(accumulator, 0, step, slotOffset + at, ownOffset + at, byteSize);
            } else {
                combineBlocks(accumulator, step, slotOffset + at, ownOffset + at, byteSize);
            }
            if (op == ReduceOp.AVG) {
                accumulator.average(layout.worldSize());
            }
            if (isShared) {
                accumulator.store(null, slots.at(slots.rank(), step) + slotOffset + at, byteSize);
            }
            if (isWanted) {
                accumulator.store(target.array(), target.position(targetOffset + at), byteSize);
            }
        }
    }

    /** Sums like ranks of several nodes: block by block, each rounded to the type. */
    private void combineBlocks(Accumulator accumulator, int step, long slotOffset, long ownOffset, int byteSize) {
        Accumulator ofBlock = blockAccumulators.computeIfAbsent(own.type(), Accumulator::of);
        for (int block = 0; block < layout.blocks(); block++) {
            combine(ofBlock, block, step, slotOffset, ownOffset, byteSize);
            ofBlock.store(blockSum, BLOCK_START, byteSize);
            if (block == 0) {
                accumulator.load(blockSum, BLOCK_START, byteSize);
            } else {
                accumulator.combine(op, blockSum, BLOCK_START, byteSize);
            }
        }
    }

    private void combine(Accumulator accumulator, int block, int step, long slotOffset, long ownOffset, int byteSize) {
        for (int place = 0; place < layout.size(block); place++) {
            int rank = layout.rank(block, place);
            boolean isMine = rank == slots.rank();
            @Nullable Object array = isMine ? own.array() : null;
            long position = isMine ? own.position(ownOffset) : slots.at(rank, step) + slotOffset;
            if (place == 0) {
                accumulator.load(array, position, byteSize);
            } else {
                accumulator.combine(op, array, position, byteSize);
            }
        }
    }
}
