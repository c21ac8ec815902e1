package dev.larder.loader.sample;

/**
 * Defines which part of every epoch one rank visits: a step of its own after sampling, so that it composes with every sampler.
 *
 * <p>What is dealt out are units: samples, or whole batches of a {@link BatchSampler}. Rank {@code r} of {@code W} takes units
 * {@code r}, {@code r + W}, {@code r + 2W} and so on, as PyTorch's {@code DistributedSampler} does. When {@code W} does not
 * divide the units, {@link Tail} says what happens.
 *
 * @param rank which of the ranks this is, from 0
 * @param world how many ranks there are
 * @param tail what happens at the end of an epoch
 */
public record Shard(int rank, int world, Tail tail) {
    /** What happens at the end of an epoch whose units cannot be dealt out evenly. */
    public enum Tail {
        /** Units from the start of the epoch are visited again, as often as it takes: PyTorch's {@code drop_last=False}. */
        PAD,
        /** The last units are left out: PyTorch's {@code drop_last=True}. */
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

    /** Returns the only rank there is: it visits everything. */
    public static Shard whole() {
        return new Shard(0, 1, Tail.PAD);
    }

    /** Returns one rank of several; at the end, units from the start are visited again. */
    public static Shard of(int rank, int world) {
        return new Shard(rank, world, Tail.PAD);
    }

    /** Returns the same rank, which leaves out units at the end that cannot be dealt out evenly. */
    public Shard dropLast() {
        return new Shard(rank, world, Tail.DROP);
    }

    /**
     * Returns the same rank, of ranks that together visit every unit once: for evaluation. All ranks have equally many batches, so
     * that they can calculate together; where units run out, some ranks have a last batch of size 0.
     */
    public Shard exact() {
        return new Shard(rank, world, Tail.EXACT);
    }

    /** Returns how many units this rank visits, of all that there are. */
    public long count(long units) {
        requireUnits(units);
        return switch (tail) {
            case PAD -> ceilDiv(units, world);
            case DROP -> units / world;
            case EXACT -> ceilDiv(Math.max(0, units - rank), world);
        };
    }

    /** Returns how many units the rank with most of them visits: ranks take that many turns together. */
    public long turns(long units) {
        requireUnits(units);
        return tail == Tail.DROP ? units / world : ceilDiv(units, world);
    }

    /** Returns the place of this rank's n-th unit; one beyond the units stands for that many from the start again. */
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
