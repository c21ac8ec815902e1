package dev.larder.server.ingest;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.PageSize;
import dev.larder.server.source.FileRegion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Segments that are filled together, because their extents take turns in the same files: columns of a table that is written in batches
 * of rows. Most groups have one segment.
 */
final class SegmentGroup {
    /** This many columns of 8 kB make a read that is long enough, and this many divide a thread's buffer. */
    private static final int MOST_SEGMENTS = 16;

    /** Longer extents are read fast enough one by one. */
    private static final long NARROW_BYTES = 64 << 10;

    /** With fewer, threads would have no work towards the end. */
    private static final int LEAST_BATCHES_EACH = 2;

    private static final long BATCH_BYTES = 8 << 20;

    private final List<SegmentCopy> segments;
    private final SegmentCopy longest;

    private SegmentGroup(List<SegmentCopy> segments) {
        this.segments = List.copyOf(segments);
        this.longest = segments.stream()
                .max(Comparator.comparingLong(SegmentCopy::byteSize))
                .orElseThrow();
    }

    /** Groups the segments of a version for this many threads; the longest groups come first. */
    static List<SegmentGroup> of(List<SegmentCopy> segments, int workers) {
        List<SegmentGroup> groups = new ArrayList<>();
        List<SegmentCopy> narrow = new ArrayList<>();
        for (SegmentCopy segment : segments) {
            if (isNarrow(segment)) {
                narrow.add(segment);
            } else {
                groups.add(new SegmentGroup(List.of(segment)));
            }
        }
        narrow.sort(
                Comparator.comparing((SegmentCopy segment) -> extent(segment, 0).file())
                        .thenComparing(segment -> extent(segment, 0).offset()));
        long batches = byteSize(narrow) / PageSize.HUGE_BYTES;
        int most = (int) Math.max(1, Math.min(MOST_SEGMENTS, batches / workers / LEAST_BATCHES_EACH));
        for (int first = 0, end = 1; first < narrow.size(); first = end++) {
            while (end < narrow.size() && takeTurns(narrow.get(first), narrow.get(end))) {
                end++;
            }
            groups.addAll(divided(narrow.subList(first, end), most));
        }
        groups.sort(Comparator.comparingLong((SegmentGroup group) -> byteSize(group.segments))
                .reversed());
        return groups;
    }

    private static boolean isNarrow(SegmentCopy segment) {
        int extents = segment.extents().size();
        return extents > 1 && segment.byteSize() / extents < NARROW_BYTES;
    }

    /** Returns whether the extents of two segments take turns, judged by the first ones. */
    private static boolean takeTurns(SegmentCopy first, SegmentCopy other) {
        FileRegion next = extent(first, 1);
        FileRegion its = extent(other, 0);
        return first.extents().size() == other.extents().size()
                && its.file().equals(extent(first, 0).file())
                && (its.offset() < next.offset() || !its.file().equals(next.file()));
    }

    private static FileRegion extent(SegmentCopy segment, int number) {
        return segment.extents().get(number);
    }

    private static List<SegmentGroup> divided(List<SegmentCopy> segments, int most) {
        List<SegmentGroup> groups = new ArrayList<>();
        int count = (segments.size() + most - 1) / most;
        for (int i = 0; i < count; i++) {
            groups.add(
                    new SegmentGroup(segments.subList(segments.size() * i / count, segments.size() * (i + 1) / count)));
        }
        return groups;
    }

    private static long byteSize(List<SegmentCopy> segments) {
        return ByteSums.sum(segments.stream().mapToLong(SegmentCopy::byteSize));
    }

    private long stepBytes() {
        return segments.size() == 1 ? BATCH_BYTES : PageSize.HUGE_BYTES;
    }

    /** Returns roughly how many times {@link #next} returns batches. */
    long roundCount() {
        return longest.byteSize() / stepBytes()
                + segments.stream().mapToInt(SegmentCopy::arrayCount).sum()
                + 1;
    }

    /**
     * Returns the batches that one thread copies next: from each segment the same share. They meet where huge pages do, because two
     * threads that share a huge page would both make it. Empty if all are handed out.
     */
    List<SegmentBatch> next() {
        long end = ByteSums.roundDown(longest.position(), stepBytes()) + stepBytes();
        double share = (double) end / longest.byteSize();
        List<SegmentBatch> batches = new ArrayList<>();
        for (SegmentCopy segment : segments) {
            long itsEnd = share < 1 ? nearestHugePage(segment.byteSize() * share) : Long.MAX_VALUE;
            if (segment.hasNext(itsEnd)) {
                batches.add(segment.next(itsEnd));
            }
        }
        return batches;
    }

    private static long nearestHugePage(double offset) {
        return Math.round(offset / PageSize.HUGE_BYTES) * PageSize.HUGE_BYTES;
    }
}
