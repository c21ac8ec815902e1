package dev.larder.distributed.internal.meeting;

import java.util.BitSet;
import java.util.StringJoiner;

/** Writes sets of ranks for people. */
final class Ranks {
    private static final int MAX_RANGES = 32;

    private Ranks() {}

    static BitSet all(int worldSize) {
        BitSet ranks = new BitSet(worldSize);
        ranks.set(0, worldSize);
        return ranks;
    }

    /** Writes {@code 1,4-7}; what would be too long to read ends with how many there are. */
    static String text(BitSet ranks) {
        StringJoiner ranges = new StringJoiner(",");
        int count = 0;
        for (int first = ranks.nextSetBit(0); first >= 0; count++) {
            int end = ranks.nextClearBit(first);
            if (count == MAX_RANGES) {
                return ranges + "... (" + ranks.cardinality() + " in all)";
            }
            ranges.add(end - first == 1 ? Integer.toString(first) : first + "-" + (end - 1));
            first = ranks.nextSetBit(end);
        }
        return ranges.toString();
    }
}
