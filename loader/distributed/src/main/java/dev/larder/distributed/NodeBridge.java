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
 * The exchange between the leaders of nodes: buffers outside the heap, transfers between them, and sums in the order of the nodes. For one
 * thread at a time.
 */
final class NodeBridge implements AutoCloseable {
    static final int EVERY_NODE = -1;

    /** The additional wait of the leader, so that the node of a dead rank reports it first. */
    static final int GRACE_MS = 1000;

    /** The most windows in progress: more than the delay of the last step of {@link NodesCollectives}. */
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
     * The way from the ranks of a node to other nodes.
     *
     * @param windowByteSize the size of a window
     * @param bridge at the leader
     */
    record Wire(int windowByteSize, @Nullable NodeBridge bridge) {}

    /** Uses a transport, and closes it; the labels name the nodes in messages. */
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

    /** Returns the number of strips of the largest node if each node gets those of its ranks. */
    private static long stripCopies(RankLayout layout) {
        int most = 0;
        for (int block = 0; block < layout.blocks(); block++) {
            most = Math.max(most, layout.size(block));
        }
        return (long) most * layout.blocks() + 1;
    }

    /** Returns the bytes of each rank in a window that has a part of every rank. */
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

    /** Returns the address of the sum of a window. */
    Span stage(long window, ElementType type, long byteSize) {
        return Span.at(type, slot(window), byteSize, memory);
    }

    void copyStage(long window, Span target) {
        target.copyFrom(slot(window), 0, target.byteSize());
    }

    /** Sends the next call to the other nodes. */
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

    /** Waits for the calls of all nodes, and breaks the group if they differ. */
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

    /** Returns the address for the other nodes' data of this node's piece. */
    private long receivedOffset(int from, long length) {
        return slotByteSize / 2 + from * stride(length);
    }

    private long stride(long length) {
        return (size(node, length) + SpanChunks.ALIGNMENT - 1) / SpanChunks.ALIGNMENT * SpanChunks.ALIGNMENT;
    }

    /** Begins to send each node its piece of a window, or all pieces to one node. */
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

    /** Waits for the pieces of a window, sums them, and begins to send the sum to all nodes, or to the node of the root. */
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

    /** Returns whether a node needs the pieces of others; after a broadcast it has them all. */
    private static boolean isWanted(int ofNode, int rootNode, boolean isBroadcast) {
        return rootNode == EVERY_NODE || isBroadcast != (ofNode == rootNode);
    }

    /** Sums bytes over the nodes in their order: those of this node from their own place, those of others from the receive buffer. */
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

    /** Waits until a window is complete, and all its bytes have been sent. */
    void awaitPieces(long window) {
        await(gathering[index(window)]);
    }

    /** Returns the place of a rank's strip among all strips, in the order of the nodes. */
    Span strip(ElementType type, int number, long length) {
        return strips(type, number, 1, length);
    }

    Span strips(ElementType type, int first, int count, long length) {
        return Span.at(type, slot(0) + first * length, count * length, memory);
    }

    /** Sends each node the strips of its ranks, and sums the strips of this node. */
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

    /** Sends this node's strips to all nodes, or to one. */
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

    /** Receives the strips of each node from the node that has them all. */
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

    /** Waits until the deadline of the group, or until the group breaks. */
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
                waitedNs += Math.min(nowNs - beforeNs, 2 * LOOK_NS); // a node does not wait while it is stopped
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

    /** Waits a moment for a report about the node at the other end of a lost connection. */
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
