package dev.larder.distributed;

import org.jspecify.annotations.Nullable;

/** Refuses invalid calls before other ranks see them. */
final class GroupChecks {
    private final int rank;
    private final int worldSize;

    GroupChecks(int rank, int worldSize) {
        this.rank = rank;
        this.worldSize = worldSize;
    }

    /** Refuses an invalid call of a kind with these spans. If a call has one span, both are the same. */
    void require(int kind, Span input, Span output, ReduceOp op, int root) {
        switch (kind) {
            case CallKind.BROADCAST -> {
                requireRoot(root);
                requireTarget(output, root != rank);
            }
            case CallKind.ALL_REDUCE -> {
                requireOp(input, op);
                requireTarget(output, true);
            }
            case CallKind.REDUCE -> {
                requireRoot(root);
                requireOp(input, op);
                requireTarget(output, root == rank);
            }
            case CallKind.ALL_GATHER -> {
                requireParts(input, output);
                requireTarget(output, true);
            }
            case CallKind.GATHER, CallKind.SCATTER -> requireTarget(output, true); // wholeAt checks the others
            case CallKind.REDUCE_SCATTER -> {
                requireOp(input, op);
                requireParts(output, input);
                requireTarget(output, true);
            }
            default -> throw new IllegalArgumentException("kind=" + kind);
        }
    }

    private void requireRoot(int root) {
        if (root < 0 || root >= worldSize) {
            throw new IllegalArgumentException("root: " + root + " of " + worldSize);
        }
    }

    private static void requireOp(Span data, ReduceOp op) {
        if (op == ReduceOp.AVG && data.type().isInteger()) {
            throw new IllegalArgumentException("no average of integers: type=" + data.type() + "; divide the SUM");
        }
    }

    private static void requireTarget(Span data, boolean isWritten) {
        if (isWritten && !data.isWritable()) {
            throw new IllegalArgumentException("results cannot be written to a read-only buffer");
        }
    }

    /** Requires that a span is as long as the parts of all ranks together. */
    private void requireParts(Span part, Span whole) {
        if (part.type() != whole.type()
                || part.byteSize() != whole.byteSize() / worldSize
                || whole.byteSize() % worldSize != 0) {
            throw new IllegalArgumentException(
                    "not the same for each of " + worldSize + " ranks: part=" + part + " whole=" + whole);
        }
    }

    /** Returns the span that only the root passes. */
    Span wholeAt(int root, Span part, @Nullable Span whole) {
        requireRoot(root);
        if (root != rank) {
            return Span.NOTHING;
        }
        if (whole == null) {
            throw new IllegalArgumentException("the root must pass the span of all ranks");
        }
        requireParts(part, whole);
        return whole;
    }

    /** Returns the place of this rank in a list of ranks; -1 if it is not there. */
    int placeIn(int[] ranks) {
        boolean[] isListed = new boolean[worldSize];
        int place = -1;
        for (int i = 0; i < ranks.length; i++) {
            requireRoot(ranks[i]);
            if (isListed[ranks[i]]) {
                throw new IllegalArgumentException("listed twice: rank " + ranks[i]);
            }
            isListed[ranks[i]] = true;
            place = ranks[i] == rank ? i : place;
        }
        if (ranks.length == 0) {
            throw new IllegalArgumentException("a group needs at least one rank");
        }
        return place;
    }

    /** Returns a hash of a list. */
    static long fingerprint(int[] ranks) {
        long print = 0xcbf2_9ce4_8422_2325L;
        for (int rank : ranks) {
            print = (print ^ rank) * 0x100_0000_01b3L;
        }
        return print & Long.MAX_VALUE;
    }
}
