package dev.larder.distributed;

import dev.larder.distributed.internal.Slots;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Combines what all ranks have, in the order of the ranks: its own from the caller's memory, that of the others from their slots. Of
 * one call at a time.
 */
final class Reducer {
    private final Slots slots;
    private final Map<ElementType, Accumulator> accumulators = new EnumMap<>(ElementType.class);

    private Span own = Span.NOTHING;
    private Span target = Span.NOTHING;
    private ReduceOp op = ReduceOp.SUM;
    private boolean isShared;

    Reducer(Slots slots) {
        this.slots = slots;
    }

    /**
     * Begins a call.
     *
     * @param target where results go; nowhere where it has no elements
     * @param isShared whether results also go to the slot of this rank, in place of what nobody has put there
     */
    void begin(Span own, ReduceOp op, Span target, boolean isShared) {
        this.own = own;
        this.op = op;
        this.target = target;
        this.isShared = isShared;
    }

    /** Makes it once: nothing is allocated in later calls. */
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

    /** Combines some bytes, which begin at {@code slotOffset} of every slot that was filled in a step. */
    void reduce(int step, long slotOffset, long ownOffset, long targetOffset, long length) {
        Accumulator accumulator = accumulatorOf(own.type());
        boolean isWanted = target.byteSize() != 0;
        for (long at = 0; at < length; at += Accumulator.BLOCK_BYTE_SIZE) {
            int byteSize = (int) Math.min(Accumulator.BLOCK_BYTE_SIZE, length - at);
            combine(accumulator, step, slotOffset + at, ownOffset + at, byteSize);
            if (isShared) {
                accumulator.store(null, slots.at(slots.rank(), step) + slotOffset + at, byteSize);
            }
            if (isWanted) {
                accumulator.store(target.array(), target.position(targetOffset + at), byteSize);
            }
        }
    }

    private void combine(Accumulator accumulator, int step, long slotOffset, long ownOffset, int byteSize) {
        int worldSize = slots.worldSize();
        for (int rank = 0; rank < worldSize; rank++) {
            boolean isMine = rank == slots.rank();
            @Nullable Object array = isMine ? own.array() : null;
            long position = isMine ? own.position(ownOffset) : slots.at(rank, step) + slotOffset;
            if (rank == 0) {
                accumulator.load(array, position, byteSize);
            } else {
                accumulator.combine(op, array, position, byteSize);
            }
        }
        if (op == ReduceOp.AVG) {
            accumulator.average(worldSize);
        }
    }
}
