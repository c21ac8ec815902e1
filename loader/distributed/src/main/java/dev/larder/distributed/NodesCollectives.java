package dev.larder.distributed;

import dev.larder.distributed.internal.GroupSpec;
import dev.larder.distributed.internal.RankLayout;
import dev.larder.distributed.internal.Slots;
import dev.larder.distributed.internal.SpanChunks;
import org.jspecify.annotations.Nullable;

/**
 * Runs calls of ranks on several nodes: the ranks of a node share memory, and their leader, the first rank, exchanges data with the other
 * leaders. Long spans are split into windows. For one thread at a time.
 */
final class NodesCollectives extends Collectives {
    /** The delay of the second and of the third step of a window, in windows. */
    private static final int REDUCE_LAG = 2;

    private static final int HAND_OUT_LAG = 4;

    /** The place of the leader in its node. */
    private static final int LEADER = 0;

    private final GroupControl control;
    private final RankLayout layout;
    private final int node;
    private final int place;
    private final int wireByteSize;
    private final @Nullable NodeBridge bridge;

    /** Of the leader with a bridge to the other nodes. */
    NodesCollectives(
            GroupControl control, Slots slots, GroupSpec spec, RankLayout layout, int node, NodeBridge.Wire wire) {
        super(control, slots, spec.sums());
        this.control = control;
        this.layout = layout;
        this.node = node;
        this.place = spec.rank();
        this.wireByteSize = wire.windowByteSize();
        this.bridge = wire.bridge();
    }

    @Override
    void meet(int collective, long number) {
        begin(CallKind.of(collective, null, null, CallKind.EVERY_RANK), number);
        beginAbroad(CallKind.of(collective, null, null, CallKind.EVERY_RANK), number);
        if (bridge != null) {
            abroad(bridge::requireSameCall);
        }
        meetInCall();
    }

    private void beginAbroad(long kind, long byteSize) {
        if (bridge != null) {
            abroad(() -> bridge.beginCall(kind, byteSize));
        }
    }

    /** Breaks the group if the leader fails. */
    private void abroad(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            throw control.failedIn(e);
        }
    }

    private static long length(long window, long windowByteSize, long byteSize) {
        return Math.min(windowByteSize, byteSize - window * windowByteSize);
    }

    private static Span window(Span data, long offset, long byteSize) {
        int elementByteSize = data.type().byteSize();
        return data.slice(offset / elementByteSize, byteSize / elementByteSize);
    }

    @Override
    void reduce(Span data, ReduceOp op, int root) {
        int collective = root == CallKind.EVERY_RANK ? CallKind.ALL_REDUCE : CallKind.REDUCE;
        long kind = CallKind.of(collective, data.type(), op, root);
        begin(kind, data.byteSize());
        beginAbroad(kind, data.byteSize());
        pipe(data, op, root, false);
    }

    @Override
    void broadcast(Span data, int root) {
        long kind = CallKind.of(CallKind.BROADCAST, data.type(), null, root);
        begin(kind, data.byteSize());
        beginAbroad(kind, data.byteSize());
        pipe(data, ReduceOp.SUM, root, true);
    }

    /**
     * Sends windows through three steps, with several windows in progress. First, the sum of the node, or the span of the root, reaches the
     * leader, and each node gets its piece. Second, each node sums its piece and sends the sum to all. Third, the leader distributes the
     * result.
     */
    private void pipe(Span data, ReduceOp op, int root, boolean isBroadcast) {
        long windows = SpanChunks.count(data.byteSize(), wireByteSize);
        if (bridge != null) {
            abroad(windows == 0 ? bridge::requireSameCall : () -> {});
        }
        for (long round = 0; windows > 0 && round < windows + HAND_OUT_LAG; round++) {
            if (round < windows) {
                long length = length(round, wireByteSize, data.byteSize());
                bring(window(data, round * wireByteSize, length), op, root, isBroadcast, round);
            }
            long reduced = round - REDUCE_LAG;
            if (bridge != null && reduced >= 0 && reduced < windows) {
                long length = length(reduced, wireByteSize, data.byteSize());
                abroad(() -> bridge.reducePieces(reduced, length, data.type(), op, root, isBroadcast));
            }
            long handed = round - HAND_OUT_LAG;
            if (handed >= 0) {
                long length = length(handed, wireByteSize, data.byteSize());
                hand(window(data, handed * wireByteSize, length), root, isBroadcast, handed);
            }
        }
    }

    private void bring(Span data, ReduceOp op, int root, boolean isBroadcast, long window) {
        Span stage = bridge == null ? Span.NOTHING : bridge.stage(window, data.type(), data.byteSize());
        if (!isBroadcast) {
            reduceTo(data, stage, op == ReduceOp.AVG ? ReduceOp.SUM : op);
        } else if (layout.blockOf(root) == node) {
            int from = layout.placeOf(root);
            Span target = place == LEADER ? stage : place == from ? Span.NOTHING : data;
            handOut(place == from ? data : Span.NOTHING, target, from, data.byteSize());
        }
        if (bridge != null) {
            abroad(() -> {
                if (window == 0) {
                    bridge.requireSameCall(); // before a byte of it is sent, but after the first step of this node
                }
                bridge.sendPieces(window, data.byteSize(), isBroadcast ? layout.blockOf(root) : NodeBridge.EVERY_NODE);
            });
        }
    }

    private void hand(Span data, int root, boolean isBroadcast, long window) {
        if (bridge != null) {
            abroad(() -> bridge.awaitPieces(window));
        }
        boolean isRootHere = root != CallKind.EVERY_RANK && layout.blockOf(root) == node;
        Span stage = bridge == null ? Span.NOTHING : bridge.stage(window, data.type(), data.byteSize());
        if (isBroadcast && isRootHere) {
            if (bridge != null && place != layout.placeOf(root)) {
                bridge.copyStage(window, data);
            }
        } else if (isBroadcast || root == CallKind.EVERY_RANK) {
            handOut(stage, data, LEADER, data.byteSize());
        } else if (isRootHere) {
            handOut(stage, place == layout.placeOf(root) ? data : Span.NOTHING, LEADER, data.byteSize());
        }
    }

    /** Returns the bytes of each rank in a window that has a part of every rank. */
    private long shareByteSize() {
        return NodeBridge.shareByteSize(layout, wireByteSize);
    }

    @Override
    void reduceScatter(Span input, Span output, ReduceOp op) {
        long kind = CallKind.of(CallKind.REDUCE_SCATTER, output.type(), op, CallKind.EVERY_RANK);
        begin(kind, output.byteSize());
        beginAbroad(kind, output.byteSize());
        if (bridge != null) {
            abroad(bridge::requireSameCall);
        }
        long share = shareByteSize();
        for (long at = 0; at < output.byteSize(); at += share) {
            long length = Math.min(share, output.byteSize() - at);
            for (int block = 0; block < layout.blocks(); block++) {
                for (int i = 0; i < layout.size(block); i++) {
                    long from = layout.rank(block, i) * output.byteSize() + at;
                    Span strip = bridge == null
                            ? Span.NOTHING
                            : bridge.strip(output.type(), layout.ranksBefore(block) + i, length);
                    reduceTo(window(input, from, length), strip, op == ReduceOp.AVG ? ReduceOp.SUM : op);
                }
            }
            if (bridge != null) {
                abroad(() -> bridge.reduceStrips(output.type(), op, length));
            }
            Span sums = bridge == null
                    ? Span.NOTHING
                    : bridge.strips(output.type(), layout.ranksBefore(node), layout.size(node), length);
            scatterFrom(sums, window(output, at, length), LEADER);
        }
    }

    @Override
    void gather(Span input, Span output, int root) {
        int collective = root == CallKind.EVERY_RANK ? CallKind.ALL_GATHER : CallKind.GATHER;
        long kind = CallKind.of(collective, input.type(), null, root);
        begin(kind, input.byteSize());
        beginAbroad(kind, input.byteSize());
        if (bridge != null) {
            abroad(bridge::requireSameCall);
        }
        int target = root == CallKind.EVERY_RANK ? NodeBridge.EVERY_NODE : layout.blockOf(root);
        boolean isTaker = root == CallKind.EVERY_RANK || (target == node && layout.placeOf(root) == place);
        long share = shareByteSize();
        for (long at = 0; at < input.byteSize(); at += share) {
            long length = Math.min(share, input.byteSize() - at);
            Span own = bridge == null
                    ? Span.NOTHING
                    : bridge.strips(input.type(), layout.ranksBefore(node), layout.size(node), length);
            gatherTo(window(input, at, length), own, LEADER);
            if (bridge != null) {
                abroad(() -> bridge.gatherStrips(length, target));
            }
            if (target == NodeBridge.EVERY_NODE || target == node) {
                handStrips(input, output, at, length, isTaker);
            }
        }
    }

    private void handStrips(Span input, Span output, long at, long length, boolean isTaker) {
        for (int block = 0; block < layout.blocks(); block++) {
            for (int i = 0; i < layout.size(block); i++) {
                Span strip = bridge == null
                        ? Span.NOTHING
                        : bridge.strip(input.type(), layout.ranksBefore(block) + i, length);
                long to = layout.rank(block, i) * input.byteSize() + at;
                handOut(strip, isTaker ? window(output, to, length) : Span.NOTHING, LEADER, length);
            }
        }
    }

    @Override
    void scatter(Span input, Span output, int root) {
        long kind = CallKind.of(CallKind.SCATTER, output.type(), null, root);
        begin(kind, output.byteSize());
        beginAbroad(kind, output.byteSize());
        if (bridge != null) {
            abroad(bridge::requireSameCall);
        }
        int from = layout.blockOf(root);
        long share = shareByteSize();
        for (long at = 0; at < output.byteSize(); at += share) {
            long length = Math.min(share, output.byteSize() - at);
            for (int block = 0; from == node && block < layout.blocks(); block++) {
                for (int i = 0; i < layout.size(block); i++) {
                    bringStrip(
                            input,
                            layout.rank(block, i) * output.byteSize() + at,
                            length,
                            output.type(),
                            root,
                            layout.ranksBefore(block) + i);
                }
            }
            if (bridge != null) {
                abroad(() -> bridge.scatterStrips(length, from));
            }
            Span own = bridge == null
                    ? Span.NOTHING
                    : bridge.strips(output.type(), layout.ranksBefore(node), layout.size(node), length);
            scatterFrom(own, window(output, at, length), LEADER);
        }
    }

    private void bringStrip(Span input, long offset, long length, ElementType type, int root, int number) {
        boolean isRoot = layout.placeOf(root) == place;
        Span strip = bridge == null ? Span.NOTHING : bridge.strip(type, number, length);
        handOut(isRoot ? window(input, offset, length) : Span.NOTHING, strip, layout.placeOf(root), length);
    }
}
