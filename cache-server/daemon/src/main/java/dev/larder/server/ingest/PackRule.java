package dev.larder.server.ingest;

import dev.larder.internal.protocol.LoadOptions;
import dev.larder.server.source.SourceArray;
import java.util.List;
import java.util.function.Predicate;

/**
 * The rule for sharing segments among arrays of a version.
 *
 * @param belowBytes only shorter arrays share
 * @param leastArrays only if there are at least this many short arrays
 * @param leastPackBytes the least length of a pack, except the last
 */
record PackRule(long belowBytes, int leastArrays, long leastPackBytes) {
    private static final long MIB = 1L << 20;

    /** More small files than this slow down programs that open them all. */
    private static final int FEW_ARRAYS = 64;

    private static final long SMALL_BYTES = MIB;
    private static final long LEAST_PACK_BYTES = 4 * MIB;

    /** If the file system rounds every file up to 2 MiB, only arrays much longer than that get their own files. */
    private static final long SMALL_BYTES_IN_HUGE_PAGES = 8 * MIB;

    private static final long LEAST_PACK_BYTES_IN_HUGE_PAGES = 64 * MIB;

    /** Packs are long enough that there are few, and short enough that several threads can fill them. */
    private static final long USUAL_PACKS = 16;

    private static final long USUAL_PACK_BYTES = 1L << 30;
    private static final long MOST_PACKS = 40;

    /** Returns the rule for a load into a mount with this {@code huge=} option. */
    static PackRule of(LoadOptions options, String hugePages) {
        boolean isRoundedUp = hugePages.equals("always");
        long leastPackBytes = isRoundedUp ? LEAST_PACK_BYTES_IN_HUGE_PAGES : LEAST_PACK_BYTES;
        if (options.packBelowBytes() != LoadOptions.PACK_AUTO) {
            return new PackRule(options.packBelowBytes(), 1, leastPackBytes);
        }
        return isRoundedUp
                ? new PackRule(SMALL_BYTES_IN_HUGE_PAGES, 2, leastPackBytes)
                : new PackRule(SMALL_BYTES, FEW_ARRAYS + 1, leastPackBytes);
    }

    /** Returns a predicate for the arrays that are packed. */
    Predicate<SourceArray> packed(List<SourceArray> arrays) {
        long small = arrays.stream().filter(this::isSmall).count();
        return small >= leastArrays ? this::isSmall : array -> false;
    }

    private boolean isSmall(SourceArray array) {
        return array.byteSize() < belowBytes;
    }

    /** Returns the length of a pack, for this total length of all packs. */
    long packBytes(long allBytes) {
        long usual = Math.min(USUAL_PACK_BYTES, allBytes / USUAL_PACKS);
        return Math.max(leastPackBytes, Math.max(usual, allBytes / MOST_PACKS));
    }
}
