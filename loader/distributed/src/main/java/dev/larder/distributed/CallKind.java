package dev.larder.distributed;

import org.jspecify.annotations.Nullable;

/** The properties of a call that all ranks compare, as one number; its length is compared separately. */
final class CallKind {
    static final int JOIN = 0;
    static final int BARRIER = 1;
    static final int BROADCAST = 2;
    static final int ALL_REDUCE = 3;
    static final int REDUCE = 4;
    static final int ALL_GATHER = 5;
    static final int GATHER = 6;
    static final int SCATTER = 7;
    static final int REDUCE_SCATTER = 8;
    static final int SUBGROUP = 9;

    /** The root of a call without one. */
    static final int EVERY_RANK = -1;

    private static final int BYTE_MASK = 0xff;
    private static final int TYPE_SHIFT = 8;
    private static final int OP_SHIFT = 16;
    private static final int ROOT_SHIFT = 32;

    private CallKind() {}

    static long of(int collective, @Nullable ElementType type, @Nullable ReduceOp op, int root) {
        long typeNumber = type == null ? 0 : type.number();
        long opNumber = op == null ? 0 : op.number();
        return collective | (typeNumber << TYPE_SHIFT) | (opNumber << OP_SHIFT) | ((root + 1L) << ROOT_SHIFT);
    }

    /** Returns a call for people; another process may have written it. */
    static String describe(long kind, long byteSize) {
        StringBuilder text = new StringBuilder(name((int) kind & BYTE_MASK));
        for (ElementType type : ElementType.values()) {
            if (type.number() == ((kind >> TYPE_SHIFT) & BYTE_MASK)) {
                text.append('/').append(type);
            }
        }
        for (ReduceOp op : ReduceOp.values()) {
            if (op.number() == ((kind >> OP_SHIFT) & BYTE_MASK)) {
                text.append('/').append(op);
            }
        }
        long root = (kind >> ROOT_SHIFT) - 1;
        if (root != EVERY_RANK) {
            text.append("/root-").append(root);
        }
        return byteSize == 0
                ? text.toString()
                : text.append('/').append(byteSize).append("-bytes").toString();
    }

    static String name(int collective) {
        return switch (collective) {
            case JOIN -> "join";
            case BARRIER -> "barrier";
            case BROADCAST -> "broadcast";
            case ALL_REDUCE -> "allReduce";
            case REDUCE -> "reduce";
            case ALL_GATHER -> "allGather";
            case GATHER -> "gather";
            case SCATTER -> "scatter";
            case REDUCE_SCATTER -> "reduceScatter";
            case SUBGROUP -> "subgroup";
            default -> "unknown-" + collective;
        };
    }
}
