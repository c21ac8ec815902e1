package dev.larder.distributed;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Ranks that calculate together. Every rank calls the same collectives in the same order with the same type, operation, root and
 * length; each call returns when this rank has what it is to get, and may use its spans again. A call of another kind at another rank
 * is found out and told to all of them, with both sides.
 *
 * <p>Ranks are always combined in the order of their numbers, on each node by itself, and then what the nodes have in the order of the
 * nodes: all get the same bits, in every run on the same layout. (NaN stays NaN; which of them is not said.) Halves and bfloats are
 * rounded once for each node, and once at the end.
 *
 * <p>A group breaks when a rank dies or closes it while others need it, at the deadline of a wait, when a waiting thread is
 * interrupted, and at mismatched calls. Then every call of every rank fails at once with the first cause, in what was to be results
 * there may be anything, and a new group has to be made. Thread-safe; but calls of several threads at once have no order that other
 * ranks could know.
 *
 * <p>Owned by whoever made it. Closing it ends what goes on, within seconds, and leaves nothing behind.
 */
public interface ProcessGroup extends AutoCloseable {
    /** Returns which of the ranks this is. */
    int rank();

    /** Returns how many ranks there are. */
    int worldSize();

    /** Returns how many bytes this rank has sent to other nodes; 0 but at the first rank of each node. */
    default long sentByteCount() {
        return 0;
    }

    /** Waits until all ranks are here. */
    void barrier();

    /** Gives every rank what the root has in this span. */
    void broadcast(Span data, int root);

    /** Combines the spans of all ranks, element by element, and writes the result to all of them. */
    void allReduce(Span data, ReduceOp op);

    /** Combines the spans of all ranks as {@link #allReduce}, and writes the result to that of the root; the others stay as they are. */
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
     * Makes a group of some of the ranks, which have the places there that they have in this list. All ranks of this group call it,
     * also those that are not in it.
     *
     * @return empty at ranks that are not in it; else the caller owns the group, which does not end with this one
     */
    Optional<ProcessGroup> subgroup(int... ranks);

    /** Idempotent. Works that have not ended fail. */
    @Override
    void close();
}
