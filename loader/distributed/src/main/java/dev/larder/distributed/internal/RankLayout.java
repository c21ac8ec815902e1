package dev.larder.distributed.internal;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The division of the ranks of a group into blocks, one for each node. Sums run inside each block in the order of its ranks, and then over
 * the blocks in their order. Immutable.
 */
public final class RankLayout {
    private final int[][] blocks;
    private final int[] blockOf;
    private final int[] placeIn;

    private RankLayout(int[][] blocks) {
        int ranks = Arrays.stream(blocks).mapToInt(block -> block.length).sum();
        this.blocks = blocks;
        this.blockOf = new int[ranks];
        this.placeIn = new int[ranks];
        Arrays.fill(blockOf, -1);
        for (int block = 0; block < blocks.length; block++) {
            for (int place = 0; place < blocks[block].length; place++) {
                int rank = blocks[block][place];
                if (rank < 0 || rank >= ranks || blockOf[rank] >= 0) {
                    throw new IllegalArgumentException("not each rank once: " + Arrays.deepToString(blocks));
                }
                blockOf[rank] = block;
                placeIn[rank] = place;
            }
        }
    }

    /** Divides ranks in a row into blocks of some sizes. */
    public static RankLayout ofSizes(int... sizes) {
        int[][] blocks = new int[sizes.length][];
        int first = 0;
        for (int block = 0; block < sizes.length; block++) {
            if (sizes[block] < 1) {
                throw new IllegalArgumentException("a block without ranks: " + Arrays.toString(sizes));
            }
            blocks[block] = new int[sizes[block]];
            for (int place = 0; place < sizes[block]; place++) {
                blocks[block][place] = first++;
            }
        }
        return new RankLayout(blocks);
    }

    /** Divides ranks by their block numbers. */
    public static RankLayout ofBlocks(int[] blockOf) {
        List<int[]> blocks = new ArrayList<>();
        for (int block = 0; block <= Arrays.stream(blockOf).max().orElse(-1); block++) {
            int wanted = block;
            int[] ranks = IntStream.range(0, blockOf.length)
                    .filter(rank -> blockOf[rank] == wanted)
                    .toArray();
            if (ranks.length > 0) {
                blocks.add(ranks);
            }
        }
        return new RankLayout(blocks.toArray(int[][]::new));
    }

    /** Returns the layout of a group of these ranks, numbered as in the list; the remaining blocks keep their order. */
    public RankLayout among(int... members) {
        return ofBlocks(Arrays.stream(members).map(this::blockOf).toArray());
    }

    /** Returns the number of ranks. */
    public int worldSize() {
        return blockOf.length;
    }

    /** Returns the number of blocks. */
    public int blocks() {
        return blocks.length;
    }

    /** Returns the number of ranks of a block. */
    public int size(int block) {
        return blocks[block].length;
    }

    /** Returns the rank at a place of a block. */
    public int rank(int block, int place) {
        return blocks[block][place];
    }

    /** Returns the block of a rank. */
    public int blockOf(int rank) {
        return blockOf[rank];
    }

    /** Returns the place of a rank in its block. */
    public int placeOf(int rank) {
        return placeIn[rank];
    }

    /** Returns the number of ranks in the blocks before one. */
    public int ranksBefore(int block) {
        int ranks = 0;
        for (int before = 0; before < block; before++) {
            ranks += blocks[before].length;
        }
        return ranks;
    }

    /** Returns a hash of the layout; 0 for one block. */
    public int fingerprint() {
        return blocks.length == 1 ? 0 : Arrays.deepHashCode(blocks);
    }

    @Override
    public String toString() {
        return Arrays.deepToString(blocks);
    }
}
