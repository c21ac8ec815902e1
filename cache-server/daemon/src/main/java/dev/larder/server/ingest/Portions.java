package dev.larder.server.ingest;

import dev.larder.internal.posix.PageSize;
import dev.larder.server.ingest.LoadPlan.Placement;
import dev.larder.server.source.FileRegion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Cuts the arrays of a segment into batches, each worth a thread's trouble: some MiB of a large file, or some hundred small ones.
 * Makes them one by one, so that a plan of a million files costs no memory. Belongs to one thread at a time.
 */
final class Portions {
    /**
     * Consecutive bytes of one array that one thread copies.
     *
     * @param regions those of the whole array; empty for a stream, which is copied in one go
     * @param firstRegion where the bytes begin
     * @param regionOffset how far into that region
     * @param offset how far into the array
     */
    record Portion(
            ArrayCopy copy, List<FileRegion> regions, int firstRegion, long regionOffset, long offset, long byteSize) {
        boolean isFirst() {
            return offset == 0;
        }

        long segmentOffset() {
            return copy.placement().dataOffset() + offset;
        }
    }

    private static final long BATCH_BYTES = 8 << 20;
    private static final int BATCH_FILES = 256;

    /** So many files make a batch wherever it ends. */
    private static final int MOST_FILES = 4096;

    private final List<Placement> placements;
    private int next;
    private ArrayCopy copy;
    private List<FileRegion> regions = List.of();
    private int region;
    private long regionOffset;
    private long offset;
    private long bytes;
    private int files;

    Portions(List<Placement> placements) {
        this.placements = placements;
        this.copy = new ArrayCopy(placements.get(0));
        this.regions = copy.array().data().regions();
    }

    boolean hasNext() {
        return next < placements.size();
    }

    /** Returns where in the segment the data of the next batch begins. */
    long position() {
        return copy.placement().dataOffset() + offset;
    }

    /** Returns the next batch up to a place in the segment, which lies behind {@link #position}: part of an array of regions. */
    List<Portion> nextUpTo(long end) {
        bytes = 0;
        files = 0;
        return List.of(stretch(end - position()));
    }

    /** Returns the next batch, in the order of the segment. */
    List<Portion> next() {
        List<Portion> batch = new ArrayList<>();
        bytes = 0;
        files = 0;
        do {
            batch.add(regions.isEmpty() ? stream() : stretch(limit()));
        } while (hasNext() && offset == 0 && bytes < BATCH_BYTES && files < BATCH_FILES);
        return batch;
    }

    private Portion stream() {
        Portion all = new Portion(copy, regions, 0, 0, 0, copy.array().byteSize());
        bytes += all.byteSize();
        files++;
        enterNextArray();
        return all;
    }

    private Portion stretch(long limit) {
        int firstRegion = region;
        long firstOffset = regionOffset;
        long taken = 0;
        Path file = null;
        while (region < regions.size() && taken < limit) {
            long intoPage = (copy.placement().dataOffset() + offset + taken) % PageSize.HUGE_BYTES;
            if (taken > 0 && (files >= MOST_FILES || (files >= BATCH_FILES && intoPage == 0))) {
                break;
            }
            FileRegion next = regions.get(region);
            long room = files < BATCH_FILES ? limit - taken : Math.min(limit - taken, PageSize.HUGE_BYTES - intoPage);
            long step = Math.min(next.byteSize() - regionOffset, room);
            taken += step;
            regionOffset += step;
            if (!next.file()
                    .equals(file)) { // of the regions of one file, which often follow each other, each costs little
                file = next.file();
                files++;
            }
            if (regionOffset == next.byteSize()) {
                region++;
                regionOffset = 0;
            }
        }
        while (region < regions.size() && regions.get(region).byteSize() == 0) {
            region++; // what is empty needs no portion of its own
        }
        Portion portion = new Portion(copy, regions, firstRegion, firstOffset, offset, taken);
        offset += taken;
        bytes += taken;
        if (region == regions.size()) {
            requireWhole();
            enterNextArray();
        }
        return portion;
    }

    /** Returns an upper bound of how many batches placements make. */
    static long atMost(LoadPlan.Segment segment) {
        return segment.byteSize() / BATCH_BYTES + segment.placements().size() + 1;
    }

    /** Cuts large arrays where batches of the segment would begin, so that no two threads share a huge page: they would make it twice. */
    private long limit() {
        if (bytes > 0) {
            return Math.max(1, BATCH_BYTES - bytes);
        }
        return BATCH_BYTES - position() % BATCH_BYTES;
    }

    private void requireWhole() {
        if (offset != copy.array().byteSize()) {
            throw new IllegalStateException(
                    "regions do not add up: array=" + copy.array().name() + " bytes=" + offset + " expected="
                            + copy.array().byteSize());
        }
    }

    private void enterNextArray() {
        next++;
        region = 0;
        regionOffset = 0;
        offset = 0;
        if (hasNext()) {
            copy = new ArrayCopy(placements.get(next));
            regions = copy.array().data().regions();
        }
    }
}
