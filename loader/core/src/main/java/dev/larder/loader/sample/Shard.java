package dev.larder.loader.sample;

/**
 * The part of every epoch that one rank visits. It is chosen after sampling, so it composes with every sampler.
 *
 * <p>Ranks divide units: samples, or whole batches of a {@link BatchSampler}. Rank {@code r} of {@code W} takes units {@code r},
 * {@code r + W}, {@code r + 2W} and so on, as PyTorch's {@code DistributedSampler} does. {@link Tail} is the action for a number of
 * units that {@code W} does not divide.
 *
 * @param rank the number of this rank, from 0
 * @param world the number of ranks
 * @param tail the action at the end of an epoch
 */
public record Shard(int rank, int world, Tail tail) {
    /** The action at the end of an epoch with units that cannot be divided evenly. */
    public enum Tail {
        /** Units from the start of the epoch are repeated: PyTorch's {@code drop_last=False}. */
        PAD,
        /** The last units are omitted: PyTorch's {@code drop_last=True}. */
        DROP,
        /** Every unit is visited once; some ranks have one less than others. */
        EXACT
    }

    /** Checks that the rank is one of the ranks. */
    public Shard {
        if (world < 1) {
            throw new IllegalArgumentException("world must be at least 1: world=" + world);
        }
        if (rank < 0 || rank >= world) {
            throw new IllegalArgumentException("rank must be 0 to world - 1: rank=" + rank + " world=" + world);
        }
    }

    /** Returns the only rank of a world of one. */
    public static Shard whole() {
        return new Shard(0, 1, Tail.PAD);
    }

    /** Returns one rank of several; at the end, units from the start are repeated. */
    public static Shard of(int rank, int world) {
        return new Shard(rank, world, Tail.PAD);
    }

    /** Returns the same rank, which omits units at the end that cannot be divided evenly. */
    public Shard dropLast() {
        return new Shard(rank, world, Tail.DROP);
    }

    /**
     * Returns the same rank, of ranks that together visit every unit once: for evaluation. All ranks have the same number of batches, so
     * that collectives match; if there are too few units, some ranks have a last batch of size 0.
     */
    public Shard exact() {
        return new Shard(rank, world, Tail.EXACT);
    }

    /** Returns the number of units of this rank. */
    public long count(long units) {
        requireUnits(units);
        return switch (tail) {
            case PAD -> ceilDiv(units, world);
            case DROP -> units / world;
            case EXACT -> ceilDiv(Math.max(0, units - rank), world);
        };
    }

    /** Returns the largest number of units of a rank, which is the number of turns of all ranks. */
    public long turns(long units) {
        requireUnits(units);
        return tail == Tail.DROP ? units / world : ceilDiv(units, world);
    }

    /** Returns the position of this rank's n-th unit; positions beyond the last unit wrap around. */
    public long unit(long n) {
        return Math.addExact(Math.multiplyExact(n, world), rank);
    }

    private static void requireUnits(long units) {
        if (units < 0) {
            throw new IllegalArgumentException("units must be at least 0: units=" + units);
        }
    }

    private static long ceilDiv(long dividend, long divisor) {
        return dividend / divisor + (dividend % divisor == 0 ? 0 : 1);
    }
}
