package dev.larder.server.ingest;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.PageSize;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

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
    private static final int LEAST_ROUNDS_EACH = 2;

    /** The length of a stretch in a group of one segment. */
    static final long STRETCH_BYTES = 8 << 20;

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
        List<SegmentCopy> narrow =
                segments.stream().filter(SegmentGroup::isNarrow).toList();
        List<SegmentGroup> groups = new ArrayList<>();
        segments.stream()
                .filter(segment -> !isNarrow(segment))
                .forEach(segment -> groups.add(new SegmentGroup(List.of(segment))));
        long rounds = byteSize(narrow) / PageSize.HUGE_BYTES;
        int most = (int) Math.max(1, Math.min(MOST_SEGMENTS, rounds / workers / LEAST_ROUNDS_EACH));
        Map<List<Object>, List<SegmentCopy>> tables = narrow.stream()
                .sorted(Comparator.comparing(segment -> segment.extents().get(0).offset()))
                .collect(Collectors.groupingBy(SegmentGroup::table, LinkedHashMap::new, Collectors.toList()));
        tables.values().forEach(columns -> groups.addAll(divided(columns, most)));
        groups.sort(Comparator.comparingLong((SegmentGroup group) -> byteSize(group.segments))
                .reversed());
        return groups;
    }

    private static boolean isNarrow(SegmentCopy segment) {
        int extents = segment.extents().size();
        return extents > 1 && segment.byteSize() / extents < NARROW_BYTES;
    }

    /** Returns equal objects for columns of one table: columns that start in the same file and have as many batches of rows. */
    private static List<Object> table(SegmentCopy column) {
        return List.of(column.extents().get(0).file(), column.extents().size());
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

    /**
     * Returns the stretches that one thread copies next, from each segment the same share; none if all have been returned. They end at
     * multiples of huge pages, so that two threads do not allocate the same huge page.
     */
    List<SegmentStretch> next() {
        long step = segments.size() == 1 ? STRETCH_BYTES : PageSize.HUGE_BYTES;
        long end = ByteSums.roundDown(longest.position(), step) + step;
        double share = (double) end / longest.byteSize();
        List<SegmentStretch> stretches = new ArrayList<>();
        for (SegmentCopy segment : segments) {
            long segmentEnd = share < 1 ? nearestHugePage(segment.byteSize() * share) : Long.MAX_VALUE;
            if (segment.hasNext(segmentEnd)) {
                stretches.add(segment.next(segmentEnd));
            }
        }
        return stretches;
    }

    private static long nearestHugePage(double offset) {
        return Math.round(offset / PageSize.HUGE_BYTES) * PageSize.HUGE_BYTES;
    }
}
