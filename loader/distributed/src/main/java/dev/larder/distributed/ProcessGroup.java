package dev.larder.distributed;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A group of ranks that calculate together. Every rank calls the same collectives in the same order with the same type, operation, root and
 * length. Each call returns when this rank has its result and may use its spans again. If ranks make different calls, all of them fail with
 * both calls in the message.
 *
 * <p>Ranks are always combined in the order of their numbers, first in each node, and then in the order of the nodes: all ranks get the
 * same bits, in every run with the same layout. (NaN stays NaN, with unspecified bits.) Halves and bfloats are rounded once in each node,
 * and once at the end.
 *
 * <p>A group breaks if a rank dies or closes it while others need it, at the deadline of a wait, if a waiting thread is interrupted, and at
 * mismatched calls. Then all calls of all ranks fail immediately with the first cause, the content of result spans is undefined, and the
 * ranks have to make a new group. Thread-safe; but the calls of several threads have no order that other ranks could match.
 *
 * <p>Owned by the caller that made it. Closing it ends running calls within seconds, and leaves nothing behind.
 */
public interface ProcessGroup extends AutoCloseable {
    /** Returns the number of this rank. */
    int rank();

    /** Returns the number of ranks. */
    int worldSize();

    /** Returns the bytes that this rank has sent to other nodes; 0 except at the first rank of each node. */
    default long sentByteCount() {
        return 0;
    }

    /** Waits until all ranks make this call. */
    void barrier();

    /** Copies the span of the root to the spans of all ranks. */
    void broadcast(Span data, int root);

    /** Combines the spans of all ranks, element by element, and writes the result to all of them. */
    void allReduce(Span data, ReduceOp op);

    /** Combines the spans of all ranks as {@link #allReduce}, and writes the result to the span of the root only. */
    void reduce(Span data, ReduceOp op, int root);

    /** Writes the inputs of all ranks one after the other to the output of each; its length is that of all inputs. */
    void allGather(Span input, Span output);

    /** Writes the inputs of all ranks one after the other to the output of the root; that of the others is ignored. */
    void gather(Span input, @Nullable Span output, int root);

    /** Gives each rank its part of the input of the root; inputs of the others are ignored. */
    void scatter(@Nullable Span input, Span output, int root);

    /** Combines the inputs of all ranks, and gives each rank its part of the result. */
    void reduceScatter(Span input, Span output, ReduceOp op);

    /** Begins a {@link #barrier}. */
    Work barrierAsync();

    /** Begins a {@link #broadcast}. */
    Work broadcastAsync(Span data, int root);

    /** Begins an {@link #allReduce}. */
    Work allReduceAsync(Span data, ReduceOp op);

    /** Begins a {@link #reduce}. */
    Work reduceAsync(Span data, ReduceOp op, int root);

    /** Begins an {@link #allGather}. */
    Work allGatherAsync(Span input, Span output);

    /** Begins a {@link #gather}. */
    Work gatherAsync(Span input, @Nullable Span output, int root);

    /** Begins a {@link #scatter}. */
    Work scatterAsync(@Nullable Span input, Span output, int root);

    /** Begins a {@link #reduceScatter}. */
    Work reduceScatterAsync(Span input, Span output, ReduceOp op);

    /**
     * Makes a group of some of the ranks, numbered in the order of this list. All ranks of this group call it, including those that are not
     * in the list.
     *
     * @return empty at ranks that are not in the list; else a group that the caller owns, and that outlives this one
     */
    Optional<ProcessGroup> subgroup(int... ranks);

    /** Closes this rank. Unfinished works fail. Idempotent. */
    @Override
    void close();
}
