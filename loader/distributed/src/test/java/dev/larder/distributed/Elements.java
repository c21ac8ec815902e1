package dev.larder.distributed;

import dev.larder.distributed.internal.RankLayout;
import dev.larder.internal.number.Bfloat16;
import dev.larder.internal.number.Half;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** A plain model of collectives: elements one by one, as BigDecimal-free Java says them. */
final class Elements {
    private Elements() {}

    /** Fills a buffer with elements that no rank has alike. */
    static UnsafeBuffer random(ElementType type, int elements, boolean onHeap, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int byteSize = elements * type.byteSize();
        UnsafeBuffer buffer = onHeap ? new UnsafeBuffer(new byte[byteSize]) : new UnsafeBuffer(direct(byteSize));
        for (int i = 0; i < elements; i++) {
            put(type, buffer, i, random);
        }
        return buffer;
    }

    static ByteBuffer direct(int byteSize) {
        return ByteBuffer.allocateDirect(Math.max(1, byteSize))
                .order(ByteOrder.nativeOrder())
                .limit(byteSize)
                .slice();
    }

    private static void put(ElementType type, MutableDirectBuffer buffer, int index, SplittableRandom random) {
        double value = (random.nextDouble() - 0.5) * Math.pow(2, random.nextInt(-20, 12));
        int offset = index * type.byteSize();
        switch (type) {
            case FLOAT -> buffer.putFloat(offset, (float) value);
            case DOUBLE -> buffer.putDouble(offset, value);
            case HALF -> buffer.putShort(offset, (short) Half.ofFloat((float) value));
            case BFLOAT16 -> buffer.putShort(offset, (short) Bfloat16.ofFloat((float) value));
            case INT -> buffer.putInt(offset, random.nextInt());
            case LONG -> buffer.putLong(offset, random.nextLong());
        }
    }

    /** Combines the same element of all ranks, and writes it to the result. */
    static void combine(ElementType type, ReduceOp op, UnsafeBuffer[] ranks, int index, UnsafeBuffer result) {
        combine(type, op, ranks, index, result, ranks.length);
    }

    /** Combines as nodes do: the ranks of each block in their order, rounded to the type, and then the blocks in theirs. */
    static UnsafeBuffer combine(ElementType type, ReduceOp op, UnsafeBuffer[] ranks, RankLayout layout) {
        int elements = ranks[0].capacity() / type.byteSize();
        UnsafeBuffer[] blocks = new UnsafeBuffer[layout.blocks()];
        ReduceOp inside = op == ReduceOp.AVG ? ReduceOp.SUM : op;
        for (int block = 0; block < blocks.length; block++) {
            UnsafeBuffer[] inBlock = new UnsafeBuffer[layout.size(block)];
            for (int place = 0; place < inBlock.length; place++) {
                inBlock[place] = ranks[layout.rank(block, place)];
            }
            blocks[block] = new UnsafeBuffer(new byte[ranks[0].capacity()]);
            for (int i = 0; i < elements; i++) {
                combine(type, inside, inBlock, i, blocks[block], 1);
            }
        }
        UnsafeBuffer result = new UnsafeBuffer(new byte[ranks[0].capacity()]);
        for (int i = 0; i < elements; i++) {
            combine(type, op, blocks, i, result, ranks.length);
        }
        return result;
    }

    private static void combine(
            ElementType type, ReduceOp op, UnsafeBuffer[] ranks, int index, UnsafeBuffer result, int count) {
        int offset = index * type.byteSize();
        switch (type) {
            case FLOAT -> result.putFloat(offset, floats(op, ranks, b -> b.getFloat(offset), count));
            case HALF ->
                result.putShort(offset, (short)
                        Half.ofFloat(floats(op, ranks, b -> Half.toFloat(b.getShort(offset)), count)));
            case BFLOAT16 ->
                result.putShort(offset, (short)
                        Bfloat16.ofFloat(floats(op, ranks, b -> Bfloat16.toFloat(b.getShort(offset)), count)));
            case DOUBLE -> result.putDouble(offset, doubles(op, ranks, offset, count));
            case INT -> result.putInt(offset, (int) longs(op, ranks, b -> b.getInt(offset)));
            case LONG -> result.putLong(offset, longs(op, ranks, b -> b.getLong(offset)));
        }
    }

    private interface FloatAt {
        float in(UnsafeBuffer buffer);
    }

    private interface LongAt {
        long in(UnsafeBuffer buffer);
    }

    private static float floats(ReduceOp op, UnsafeBuffer[] ranks, FloatAt at, int count) {
        float all = at.in(ranks[0]);
        for (int rank = 1; rank < ranks.length; rank++) {
            float next = at.in(ranks[rank]);
            all = switch (op) {
                case SUM, AVG -> all + next;
                case MIN -> Math.min(all, next);
                case MAX -> Math.max(all, next);
                case PROD -> all * next;
            };
        }
        return op == ReduceOp.AVG ? all / count : all;
    }

    private static double doubles(ReduceOp op, UnsafeBuffer[] ranks, int offset, int count) {
        double all = ranks[0].getDouble(offset);
        for (int rank = 1; rank < ranks.length; rank++) {
            double next = ranks[rank].getDouble(offset);
            all = switch (op) {
                case SUM, AVG -> all + next;
                case MIN -> Math.min(all, next);
                case MAX -> Math.max(all, next);
                case PROD -> all * next;
            };
        }
        return op == ReduceOp.AVG ? all / count : all;
    }

    /** Also of ints: the lower half of what wraps around is the same. */
    private static long longs(ReduceOp op, UnsafeBuffer[] ranks, LongAt at) {
        long all = at.in(ranks[0]);
        for (int rank = 1; rank < ranks.length; rank++) {
            long next = at.in(ranks[rank]);
            all = switch (op) {
                case SUM, AVG -> all + next;
                case MIN -> Math.min(all, next);
                case MAX -> Math.max(all, next);
                case PROD -> all * next;
            };
        }
        return all;
    }
}
