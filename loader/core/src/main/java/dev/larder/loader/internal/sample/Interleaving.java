package dev.larder.loader.internal.sample;

/**
 * Divides the positions of an epoch among sources in proportion to weights, so evenly that every few hundred positions have the right
 * shares. Computes each position on its own, without memory.
 *
 * <p>Positions come in blocks. In each block, a source gets as many positions as its share of all positions so far grows
 * by, rounded down; the heaviest gets the rest.
 * Within a block, steps of about the golden section spread each source's positions, from a start that is drawn for the block.
 */
public final class Interleaving {
    /** The largest number of sources. */
    public static final int MAX_SOURCES = 1 << 8;

    private static final int SOURCE_BITS = 8;
    private static final int SMALLEST_BLOCK = 64;
    private static final double GOLDEN_SECTION = 0.618_033_988_749_894_8;

    private final double[] shares;
    private final int heaviest;
    private final int block;
    private final int step;
    private final long seed;
    private final long epoch;

    /** Takes one weight above 0 for each source. */
    public Interleaving(double[] weights, long seed, long epoch) {
        double sum = 0;
        int most = 0;
        for (int i = 0; i < weights.length; i++) {
            sum += weights[i];
            most = weights[i] > weights[most] ? i : most;
        }
        this.shares = new double[weights.length];
        for (int i = 0; i < weights.length; i++) {
            shares[i] = weights[i] / sum;
        }
        this.heaviest = most;
        this.seed = seed;
        this.epoch = epoch;
        int least = Math.max(SMALLEST_BLOCK, weights.length * weights.length); // so the rest is never negative
        this.block = Integer.highestOneBit(least) == least ? least : Integer.highestOneBit(least) << 1;
        this.step = (int) (block * GOLDEN_SECTION) | 1;
    }

    /** Returns the number of positions of a source before a block; not for the heaviest. */
    private long before(long firstOfBlock, int source) {
        return (long) Math.floor(firstOfBlock * shares[source]);
    }

    private long count(long firstOfBlock, int source) {
        if (source != heaviest) {
            return before(firstOfBlock, source);
        }
        long rest = firstOfBlock;
        for (int i = 0; i < shares.length; i++) {
            rest -= i == heaviest ? 0 : before(firstOfBlock, i);
        }
        return rest;
    }

    private int start(long firstOfBlock) {
        return Philox.below(Philox.bits(seed, epoch, firstOfBlock, Draws.MIXED), block);
    }

    /**
     * Returns the source of a position and the number of its earlier positions, packed: {@link #source(long)} and {@link
     * #countBefore(long)} unpack them. Allocates nothing.
     */
    public long find(long position) {
        long first = position - position % block;
        int start = start(first);
        int slot = (start + (int) (position - first) * step) & (block - 1);
        int from = 0;
        int source = 0;
        int to = inBlock(first, 0);
        while (slot >= to) {
            source++;
            from = to;
            to += inBlock(first, source);
        }
        long count = count(first, source) + countOf(start, (int) (position - first), from, to);
        return count << SOURCE_BITS | source;
    }

    /** Returns the source from the result of {@link #find}. */
    public static int source(long found) {
        return (int) (found & (MAX_SOURCES - 1));
    }

    /** Returns the number of earlier positions of the source from the result of {@link #find}. */
    public static long countBefore(long found) {
        return found >>> SOURCE_BITS;
    }

    /** Counts the first places of a block between two of its slots. */
    private int countOf(int start, int places, int from, int to) {
        int count = 0;
        int slot = start;
        for (int i = 0; i < places; i++, slot += step) {
            int place = slot & (block - 1);
            count += place >= from && place < to ? 1 : 0;
        }
        return count;
    }

    private int inBlock(long first, int source) {
        return (int) (count(first + block, source) - count(first, source));
    }

    /** Returns the number of positions of a source before a position. */
    public long countBefore(long position, int source) {
        long first = position - position % block;
        long count = count(first, source);
        if (position == first) {
            return count;
        }
        int from = 0;
        for (int i = 0; i < source; i++) {
            from += inBlock(first, i);
        }
        int to = from + inBlock(first, source);
        count += countOf(start(first), (int) (position - first), from, to);
        return count;
    }

    /** Returns the smallest number of positions that contains {@code wanted} ones of a source. */
    public long positionsFor(long wanted, int source) {
        long low = 0;
        long high = wanted;
        while (countBefore(high, source) < wanted) {
            low = high;
            high = Math.multiplyExact(high + block, 2L);
        }
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (countBefore(middle, source) < wanted) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
