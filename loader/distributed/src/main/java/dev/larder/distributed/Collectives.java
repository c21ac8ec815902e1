package dev.larder.distributed;

import dev.larder.distributed.internal.RankLayout;
import dev.larder.distributed.internal.Slots;
import dev.larder.distributed.internal.SpanChunks;
import java.lang.ref.Reference;

/** Runs calls in memory that all ranks of a node share. For one thread at a time. */
class Collectives {
    /** Every rank reduces spans up to this length itself: a second barrier costs more than the repeated calculation. */
    private static final long SHORT_BYTE_SIZE = 16 * 1024;

    private final GroupControl control;
    private final Slots slots;
    private final long shortByteSize;
    private final AllReduceExchange allReduce;
    private final ShortReduceExchange shortReduce;
    private final ReduceScatterExchange reduceScatter;
    private final BroadcastExchange broadcast;
    private final GatherExchange gather;
    private final ScatterExchange scatter;

    Collectives(GroupControl control, Slots slots, RankLayout sums) {
        Reducer reducer = new Reducer(slots, sums);
        this.control = control;
        this.slots = slots;
        this.shortByteSize = Math.min(SHORT_BYTE_SIZE, slots.chunkByteSize());
        this.allReduce = new AllReduceExchange(slots, reducer);
        this.shortReduce = new ShortReduceExchange(slots, reducer);
        this.reduceScatter = new ReduceScatterExchange(slots, reducer);
        this.broadcast = new BroadcastExchange(slots);
        this.gather = new GatherExchange(slots);
        this.scatter = new ScatterExchange(slots);
    }

    /** Waits for all ranks, which have to pass the same two numbers. */
    void meet(int collective, long number) {
        begin(CallKind.of(collective, null, null, CallKind.EVERY_RANK), number);
    }

    /** Begins a call of a kind, and waits for all ranks. */
    final void begin(long kind, long byteSize) {
        control.beginCall(kind, byteSize);
        meetInCall();
    }

    /** Waits for all ranks in a running call. */
    final void meetInCall() {
        try {
            meetAll();
            slots.requireOpen();
        } catch (RuntimeException | Error e) {
            throw control.failedIn(e);
        }
    }

    /** Reduces to the spans of ranks whose result is not empty, in a running call. */
    final void reduceTo(Span data, Span result, ReduceOp op) {
        run(allReduce.begin(data, result, op), data.byteSize());
    }

    /** Copies the span of the root to the spans of ranks whose target is not empty, in a running call. */
    final void handOut(Span source, Span target, int root, long byteSize) {
        run(broadcast.begin(source, target, root), byteSize);
    }

    /** Gathers at a root, in a running call. */
    final void gatherTo(Span input, Span output, int root) {
        run(gather.begin(input, output, root), input.byteSize());
    }

    /** Scatters from a root, in a running call. */
    final void scatterFrom(Span input, Span output, int root) {
        run(scatter.begin(input, output, root), output.byteSize());
    }

    void broadcast(Span data, int root) {
        control.beginCall(CallKind.of(CallKind.BROADCAST, data.type(), null, root), data.byteSize());
        run(broadcast.begin(data, root), data.byteSize());
    }

    /** Reduces to all ranks, or to a root. */
    void reduce(Span data, ReduceOp op, int root) {
        int collective = root == CallKind.EVERY_RANK ? CallKind.ALL_REDUCE : CallKind.REDUCE;
        control.beginCall(CallKind.of(collective, data.type(), op, root), data.byteSize());
        boolean isShort = data.byteSize() <= shortByteSize;
        run(isShort ? shortReduce.begin(data, op, root) : allReduce.begin(data, op, root), data.byteSize());
    }

    void reduceScatter(Span input, Span output, ReduceOp op) {
        control.beginCall(
                CallKind.of(CallKind.REDUCE_SCATTER, output.type(), op, CallKind.EVERY_RANK), output.byteSize());
        run(reduceScatter.begin(input, output, op), output.byteSize());
    }

    /** Gathers at all ranks, or at a root. */
    void gather(Span input, Span output, int root) {
        int collective = root == CallKind.EVERY_RANK ? CallKind.ALL_GATHER : CallKind.GATHER;
        control.beginCall(CallKind.of(collective, input.type(), null, root), input.byteSize());
        run(gather.begin(input, output, root), input.byteSize());
    }

    void scatter(Span input, Span output, int root) {
        control.beginCall(CallKind.of(CallKind.SCATTER, output.type(), null, root), output.byteSize());
        run(scatter.begin(input, output, root), output.byteSize());
    }

    private void meetAll() {
        control.publish();
        control.awaitAll();
        control.requireSameCall();
    }

    private void run(ChunkExchange exchange, long byteSize) {
        try {
            if (byteSize == 0) {
                meetAll();
            } else {
                runChunks(exchange, byteSize);
            }
            slots.requireOpen();
        } catch (RuntimeException | Error e) {
            throw control.failedIn(e);
        } finally {
            exchange.end();
            Reference.reachabilityFence(slots); // its memory goes with its last reference
        }
    }

    /**
     * Chunk i is put in round i, and taken in the round after the next barrier, or one later if it is reduced in between. This rank reads a
     * slot of round i for the last time before it publishes round i + 2. The slot is filled again in round i + 4, which begins when all
     * ranks have published i + 2.
     */
    private void runChunks(ChunkExchange exchange, long byteSize) {
        long chunkByteSize = exchange.chunkByteSize();
        long chunks = SpanChunks.count(byteSize, chunkByteSize);
        int lag = exchange.isReducing() ? 2 : 1;
        for (long round = 0; round < chunks + lag; round++) {
            int step = control.step() + 1;
            if (round < chunks) {
                exchange.put(round * chunkByteSize, length(round, chunkByteSize, byteSize), step);
            }
            if (round > 0) {
                control.awaitAll();
                if (round == 1) {
                    control.requireSameCall();
                }
                if (lag == 2 && round <= chunks) {
                    long before = round - 1;
                    exchange.reduce(before * chunkByteSize, length(before, chunkByteSize, byteSize), step - 1);
                }
                if (round >= lag) {
                    long taken = round - lag;
                    exchange.take(taken * chunkByteSize, length(taken, chunkByteSize, byteSize), step - lag);
                }
            }
            if (round < chunks + lag - 1) {
                control.publish();
            }
        }
    }

    private static long length(long chunk, long chunkByteSize, long byteSize) {
        return Math.min(chunkByteSize, byteSize - chunk * chunkByteSize);
    }
}
