package dev.larder.server.ingest;

import dev.larder.internal.protocol.LoadOptions;
import dev.larder.server.source.SourceArray;
import java.util.List;
import java.util.function.Predicate;

/**
 * Says which arrays of a version share segments.
 *
 * @param belowBytes arrays shorter than this do
 * @param leastArrays where there are at least so many of them
 * @param leastPackBytes how long a pack is at least, as long as there is something to put into it
 */
record PackRule(long belowBytes, int leastArrays, long leastPackBytes) {
    private static final long MIB = 1L << 20;

    /** More small files than this are a burden on those who open them all. */
    private static final int FEW_ARRAYS = 64;

    private static final long SMALL_BYTES = MIB;
    private static final long LEAST_PACK_BYTES = 4 * MIB;

    /** Where the file system rounds every file up to 2 MiB, files of their own are for what is larger than a few of those. */
    private static final long SMALL_BYTES_IN_HUGE_PAGES = 8 * MIB;

    private static final long LEAST_PACK_BYTES_IN_HUGE_PAGES = 64 * MIB;

    /** Packs are long enough that there are few, and short enough that threads can fill several at once. */
    private static final long USUAL_PACKS = 16;

    private static final long USUAL_PACK_BYTES = 1L << 30;
    private static final long MOST_PACKS = 40;

    /** Returns what holds for a load into a mount with this {@code huge=} word. */
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

    /** Tells which of these arrays are packed. */
    Predicate<SourceArray> packed(List<SourceArray> arrays) {
        long small = arrays.stream().filter(this::isSmall).count();
        return small >= leastArrays ? this::isSmall : array -> false;
    }

    private boolean isSmall(SourceArray array) {
        return array.byteSize() < belowBytes;
    }

    /** Returns where to end a pack, given how long all packs together are. */
    long packBytes(long allBytes) {
        long usual = Math.min(USUAL_PACK_BYTES, allBytes / USUAL_PACKS);
        return Math.max(leastPackBytes, Math.max(usual, allBytes / MOST_PACKS));
    }
}
