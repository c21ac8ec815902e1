package dev.larder.distributed;

import dev.larder.distributed.internal.RankLayout;
import dev.larder.distributed.internal.SpanChunks;
import dev.larder.distributed.transport.NodeTransport;
import dev.larder.distributed.transport.NodeTransport.Parts;
import dev.larder.distributed.transport.NodeTransport.Transfer;
import dev.larder.distributed.transport.NodeTransport.TransferException;
import dev.larder.error.ErrorCode;
import dev.larder.internal.posix.RawMemory;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What the leader of a node exchanges with those of the others: stages outside the heap, what goes to and fro between them, and the sums
 * over nodes, in the order of the nodes. Of one thread at a time.
 */
final class NodeBridge implements AutoCloseable {
    static final int EVERY_NODE = -1;

    /** How much longer than others the leader waits: what became of a rank, its own node finds out first. */
    static final int GRACE_MS = 1000;

    /** How many windows may be under way: more than {@link NodesCollectives} is behind with the last step. */
    private static final int DEPTH = 6;

    private static final int HEADER_BYTE_SIZE = 64;
    private static final int KIND_OFFSET = 8;
    private static final int BYTES_OFFSET = 16;
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long HEARSAY_MS = 1500;

    private final NodeTransport transport;
    private final GroupControl control;
    private final RankLayout layout;
    private final int node;
    private final String[] labels;
    private final UnsafeBuffer memory;
    private final long headers;
    private final long slots;
    private final long slotByteSize;
    private final Map<ElementType, Accumulator> accumulators = new EnumMap<>(ElementType.class);
    private final Transfer[] sending = new Transfer[DEPTH];
    private final Transfer[] gathering = new Transfer[DEPTH];
    private @Nullable Transfer header;
    private long calls;

    /**
     * What the ranks of a node know of the way to others.
     *
     * @param windowByteSize how much goes at a time
     * @param bridge at the leader
     */
    record Wire(int windowByteSize, @Nullable NodeBridge bridge) {}

    /** Uses a transport, and closes it; labels name the nodes in messages. */
    NodeBridge(
            NodeTransport transport,
            GroupControl control,
            RankLayout layout,
            int node,
            int windowByteSize,
            String[] labels) {
        this.transport = transport;
        this.control = control;
        this.layout = layout;
        this.node = node;
        this.labels = labels;
        long strips = Math.max(windowByteSize, (long) layout.worldSize() * SpanChunks.ALIGNMENT);
        this.slotByteSize = 2 * (strips + (long) (layout.worldSize() + 2) * SpanChunks.ALIGNMENT);
        long headerBytes = (long) HEADER_BYTE_SIZE * (layout.blocks() + 1);
        this.memory = new UnsafeBuffer(ByteBuffer.allocateDirect(
                Math.toIntExact(headerBytes + DEPTH * slotByteSize + stripCopies(layout) * SpanChunks.ALIGNMENT)));
        this.headers =
                (memory.addressOffset() + SpanChunks.ALIGNMENT - 1) / SpanChunks.ALIGNMENT * SpanChunks.ALIGNMENT;
        this.slots = headers + headerBytes;
    }

    /** Returns how many strips the largest node takes when each node sends it those of its ranks. */
    private static long stripCopies(RankLayout layout) {
        int most = 0;
        for (int block = 0; block < layout.blocks(); block++) {
            most = Math.max(most, layout.size(block));
        }
        return (long) most * layout.blocks() + 1;
    }

    /** Returns how much of each rank's part goes at a time where a window has a part of every rank. */
    static long shareByteSize(RankLayout layout, int windowByteSize) {
        long strips = Math.max(layout.worldSize(), stripCopies(layout) / DEPTH);
        return Math.max(SpanChunks.ALIGNMENT, SpanChunks.shareOf(windowByteSize, Math.toIntExact(strips)));
    }

    long sentByteCount() {
        return transport.sentByteCount();
    }

    private long slot(long window) {
        return slots + Math.floorMod(window, (long) DEPTH) * slotByteSize;
    }

    /** Returns where the sum of a window is. */
    Span stage(long window, ElementType type, long byteSize) {
        return Span.at(type, slot(window), byteSize, memory);
    }

    void copyStage(long window, Span target) {
        target.copyFrom(slot(window), 0, target.byteSize());
    }

    /** Tells the other nodes what call comes next. */
    void beginCall(long kind, long byteSize) {
        calls++;
        RawMemory.putLong(null, headers, calls);
        RawMemory.putLong(null, headers + KIND_OFFSET, kind);
        RawMemory.putLong(null, headers + BYTES_OFFSET, byteSize);
        Parts sent = parts(headers);
        Parts received = parts(headers);
        for (int other = 0; other < layout.blocks(); other++) {
            if (other != node) {
                sent.set(other, 0, HEADER_BYTE_SIZE);
                received.set(other, (long) HEADER_BYTE_SIZE * (other + 1), HEADER_BYTE_SIZE);
            }
        }
        header = begin(sent, received);
    }

    /** Waits until all nodes have told, and breaks the group where one makes another call. */
    void requireSameCall() {
        await(header);
        header = null;
        for (int other = 0; other < layout.blocks(); other++) {
            long at = headers + (long) HEADER_BYTE_SIZE * (other + 1);
            if (other != node
                    && (RawMemory.getLong(at) != calls
                            || RawMemory.getLong(at + KIND_OFFSET) != RawMemory.getLong(headers + KIND_OFFSET)
                            || RawMemory.getLong(at + BYTES_OFFSET) != RawMemory.getLong(headers + BYTES_OFFSET))) {
                throw mismatch(other, at);
            }
        }
    }

    private RuntimeException mismatch(int other, long at) {
        return control.fault()
                .breakBecause(
                        ErrorCode.BAD_INPUT,
                        "ranks of the process group made different calls: callNumber=" + calls + labels[node] + " call="
                                + call(headers) + " other:" + labels[other] + " call=" + call(at) + " callNumber="
                                + RawMemory.getLong(at) + "; let all ranks make the same calls in the same order");
    }

    private static String call(long at) {
        return CallKind.describe(RawMemory.getLong(at + KIND_OFFSET), RawMemory.getLong(at + BYTES_OFFSET));
    }

    private Parts parts(long address) {
        return new Parts(address, layout.blocks());
    }

    private long start(int ofNode, long length) {
        return SpanChunks.partStart(ofNode, layout.blocks(), length);
    }

    private long size(int ofNode, long length) {
        return start(ofNode + 1, length) - start(ofNode, length);
    }

    /** Where what other nodes have of this node's piece is taken to. */
    private long receivedOffset(int from, long length) {
        return slotByteSize / 2 + from * stride(length);
    }

    private long stride(long length) {
        return (size(node, length) + SpanChunks.ALIGNMENT - 1) / SpanChunks.ALIGNMENT * SpanChunks.ALIGNMENT;
    }

    /** Begins to send each node its piece of a window, or does so at one node alone, whose pieces come in their places. */
    void sendPieces(long window, long length, int from) {
        Parts sent = parts(slot(window));
        Parts received = parts(slot(window));
        for (int other = 0; other < layout.blocks(); other++) {
            if (other == node) {
                continue;
            }
            if (from == EVERY_NODE || from == node) {
                sent.set(other, start(other, length), size(other, length));
            }
            if (from == EVERY_NODE || from == other) {
                received.set(
                        other,
                        from == EVERY_NODE ? receivedOffset(other, length) : start(node, length),
                        size(node, length));
            }
        }
        sending[index(window)] = begin(sent, received);
    }

    private static int index(long window) {
        return (int) Math.floorMod(window, (long) DEPTH);
    }

    /** Waits for the pieces of a window, sums them, and begins to send the sum to all nodes, or to that of the root. */
    void reducePieces(long window, long length, ElementType type, ReduceOp op, int root, boolean isBroadcast) {
        await(sending[index(window)]);
        if (!isBroadcast) {
            long taken = slot(window) + slotByteSize / 2;
            sum(type, op, slot(window) + start(node, length), taken, stride(length), size(node, length));
        }
        int rootNode = root == CallKind.EVERY_RANK ? EVERY_NODE : layout.blockOf(root);
        Parts sent = parts(slot(window));
        Parts received = parts(slot(window));
        for (int other = 0; other < layout.blocks(); other++) {
            if (other != node && isWanted(other, rootNode, isBroadcast)) {
                sent.set(other, start(node, length), size(node, length));
            }
            if (other != node && isWanted(node, rootNode, isBroadcast)) {
                received.set(other, start(other, length), size(other, length));
            }
        }
        gathering[index(window)] = begin(sent, received);
    }

    /** Tells whether a node needs the pieces of others: one that has broadcast has them all. */
    private static boolean isWanted(int ofNode, int rootNode, boolean isBroadcast) {
        return rootNode == EVERY_NODE || isBroadcast != (ofNode == rootNode);
    }

    /** Sums bytes over the nodes, in their order: this node's from their place, the others' from where they were taken to. */
    private void sum(ElementType type, ReduceOp op, long own, long taken, long stride, long byteSize) {
        Accumulator accumulator = accumulators.computeIfAbsent(type, Accumulator::of);
        for (long at = 0; at < byteSize; at += Accumulator.BLOCK_BYTE_SIZE) {
            int block = (int) Math.min(Accumulator.BLOCK_BYTE_SIZE, byteSize - at);
            for (int from = 0; from < layout.blocks(); from++) {
                long position = (from == node ? own : taken + from * stride) + at;
                if (from == 0) {
                    accumulator.load(null, position, block);
                } else {
                    accumulator.combine(op, null, position, block);
                }
            }
            if (op == ReduceOp.AVG) {
                accumulator.average(layout.worldSize());
            }
            accumulator.store(null, own + at, block);
        }
    }

    /** Waits until a window is complete, and what was sent of it has gone. */
    void awaitPieces(long window) {
        await(gathering[index(window)]);
    }

    /** Returns the place of one rank's strip among those of all, in the order of the nodes. */
    Span strip(ElementType type, int number, long length) {
        return strips(type, number, 1, length);
    }

    Span strips(ElementType type, int first, int count, long length) {
        return Span.at(type, slot(0) + first * length, count * length, memory);
    }

    /** Gives each node the strips of its ranks, and sums those of this node's. */
    void reduceStrips(ElementType type, ReduceOp op, long length) {
        int own = layout.size(node);
        long ownBytes = own * length;
        Parts sent = parts(slot(0));
        Parts received = parts(slot(0));
        for (int other = 0; other < layout.blocks(); other++) {
            if (other != node) {
                sent.set(other, layout.ranksBefore(other) * length, layout.size(other) * length);
                received.set(other, slotByteSize + other * ownBytes, ownBytes);
            }
        }
        await(begin(sent, received));
        long mine = slot(0) + layout.ranksBefore(node) * length;
        sum(type, op, mine, slot(0) + slotByteSize, ownBytes, ownBytes);
    }

    /** Gives this node's strips to all nodes, or to one. */
    void gatherStrips(long length, int to) {
        Parts sent = parts(slot(0));
        Parts received = parts(slot(0));
        for (int other = 0; other < layout.blocks(); other++) {
            if (other != node && (to == EVERY_NODE || to == other)) {
                sent.set(other, layout.ranksBefore(node) * length, layout.size(node) * length);
            }
            if (other != node && (to == EVERY_NODE || to == node)) {
                received.set(other, layout.ranksBefore(other) * length, layout.size(other) * length);
            }
        }
        await(begin(sent, received));
    }

    /** Takes each node's strips from the one that has them all. */
    void scatterStrips(long length, int from) {
        Parts sent = parts(slot(0));
        Parts received = parts(slot(0));
        for (int other = 0; other < layout.blocks(); other++) {
            if (other != node && from == node) {
                sent.set(other, layout.ranksBefore(other) * length, layout.size(other) * length);
            }
            if (other != node && from == other) {
                received.set(other, layout.ranksBefore(node) * length, layout.size(node) * length);
            }
        }
        await(begin(sent, received));
    }

    private Transfer begin(Parts sent, Parts received) {
        try {
            return transport.begin(sent, received);
        } catch (TransferException e) {
            throw lost(e);
        }
    }

    /** Waits as ranks wait for each other: until the deadline of the group, and no longer than the group is whole. */
    private void await(@Nullable Transfer transfer) {
        if (transfer == null) {
            throw new IllegalStateException("no transfer");
        }
        control.peers().goAbroad(2 * GRACE_MS);
        try {
            long waitedNs = 0;
            long nowNs = System.nanoTime();
            while (!transfer.await(LOOK_NS)) {
                control.requireGoingOn();
                long beforeNs = nowNs;
                nowNs = System.nanoTime();
                waitedNs += Math.min(nowNs - beforeNs, 2 * LOOK_NS); // a node that was stopped has not waited
                if (waitedNs >= control.timeoutNs() + TimeUnit.MILLISECONDS.toNanos(GRACE_MS)) {
                    throw late(transfer.missingNode());
                }
            }
        } catch (TransferException e) {
            throw lost(e);
        } finally {
            control.peers().goAbroad(0);
        }
    }

    private RuntimeException late(int missing) {
        return control.fault()
                .breakBecause(
                        ErrorCode.DEADLINE,
                        "another node did not arrive in time:" + label(missing) + " call=" + control.what()
                                + " toldBy:" + labels[node] + " timeoutMs="
                                + TimeUnit.NANOSECONDS.toMillis(control.timeoutNs())
                                + "; check whether its ranks are stopped or busy elsewhere, and the network between");
    }

    private String label(int ofNode) {
        if (ofNode >= 0 && ofNode < labels.length) {
            return labels[ofNode];
        }
        StringJoiner others = new StringJoiner(" or");
        for (int other = 0; other < labels.length; other++) {
            if (other != node) {
                others.add(labels[other]);
            }
        }
        return others.toString();
    }

    /** A connection that ends says little: who is at its other end may be heard of in a moment. */
    private RuntimeException lost(TransferException failure) {
        long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(HEARSAY_MS);
        while (!control.fault().isBroken() && System.nanoTime() - untilNs < 0) {
            try {
                TimeUnit.MILLISECONDS.sleep(5);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                break;
            }
        }
        return control.fault()
                .breakBecause(
                        ErrorCode.UNEXPECTED,
                        "another node has left the process group or cannot be reached:" + label(failure.node())
                                + " call=" + control.what() + " reason=" + failure.getMessage()
                                + "; find out why it ended, and restart all ranks");
    }

    @Override
    public void close() {
        transport.close();
    }
}
