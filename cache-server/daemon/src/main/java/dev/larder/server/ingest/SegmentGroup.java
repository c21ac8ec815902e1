package dev.larder.server.ingest;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.PageSize;
import dev.larder.server.ingest.SegmentCopy.Batch;
import dev.larder.server.source.FileRegion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/**
 * Segments that are filled together, because what belongs into them lies side by side in the same files, as the columns of a table do
 * that is written in batches of rows. Mostly it is one alone.
 */
final class SegmentGroup {
    /** So many columns of 8 kB make a read that is long enough, and so many divide a thread's buffer. */
    private static final int MOST_SEGMENTS = 16;

    /** Longer regions are read fast enough one by one. */
    private static final long NARROW_BYTES = 64 << 10;

    /** Else threads would have nothing to do towards the end. */
    private static final int LEAST_BATCHES_EACH = 2;

    private final List<SegmentCopy> segments;
    private final SegmentCopy longest;
    private final LoadProgress progress;

    private SegmentGroup(List<SegmentCopy> segments, LoadProgress progress) {
        this.segments = segments;
        this.longest = segments.stream()
                .max(Comparator.comparingLong(SegmentCopy::byteSize))
                .orElseThrow();
        this.progress = progress;
    }

    /** Groups the segments of a version for so many threads; the longest groups come first. */
    static List<SegmentGroup> of(List<SegmentCopy> segments, int workers, LoadProgress progress) {
        List<SegmentGroup> groups = new ArrayList<>();
        segments.stream()
                .filter(segment -> !isNarrow(segment))
                .forEach(segment -> groups.add(new SegmentGroup(List.of(segment), progress)));
        List<SegmentCopy> narrow = segments.stream()
                .filter(SegmentGroup::isNarrow)
                .sorted(Comparator.comparing(
                                (SegmentCopy segment) -> region(segment, 0).file())
                        .thenComparing(segment -> region(segment, 0).offset()))
                .toList();
        long batches = ByteSums.sum(narrow.stream().mapToLong(SegmentCopy::byteSize)) / PageSize.HUGE_BYTES;
        int most = (int) Math.max(1, Math.min(MOST_SEGMENTS, batches / workers / LEAST_BATCHES_EACH));
        for (int first = 0; first < narrow.size(); ) {
            int end = first + 1;
            while (end < narrow.size() && areSideBySide(narrow.get(first), narrow.get(end))) {
                end++;
            }
            divide(narrow.subList(first, end), most, part -> groups.add(new SegmentGroup(part, progress)));
            first = end;
        }
        groups.sort(Comparator.comparingLong(SegmentGroup::byteSize).reversed());
        return groups;
    }

    private static boolean isNarrow(SegmentCopy segment) {
        int regions = segment.regions().size();
        return regions > 1 && segment.byteSize() / regions < NARROW_BYTES;
    }

    /** Tells whether the regions of two segments take turns, as far as the first ones show. */
    private static boolean areSideBySide(SegmentCopy first, SegmentCopy other) {
        FileRegion next = region(first, 1);
        FileRegion its = region(other, 0);
        return first.regions().size() == other.regions().size()
                && its.file().equals(region(first, 0).file())
                && (its.offset() < next.offset() || !its.file().equals(next.file()));
    }

    private static FileRegion region(SegmentCopy segment, int number) {
        return segment.regions().get(number);
    }

    private static void divide(List<SegmentCopy> segments, int most, Consumer<List<SegmentCopy>> parts) {
        int count = (segments.size() + most - 1) / most;
        for (int i = 0; i < count; i++) {
            int first = segments.size() * i / count;
            parts.accept(List.copyOf(segments.subList(first, segments.size() * (i + 1) / count)));
        }
    }

    private long byteSize() {
        return ByteSums.sum(segments.stream().mapToLong(SegmentCopy::byteSize));
    }

    /** Returns an upper bound of how many times {@link #next} returns something. */
    long batchesAtMost() {
        return segments.size() == 1
                ? longest.batchesAtMost()
                : longest.byteSize() / PageSize.HUGE_BYTES + segments.size() + 1;
    }

    /** Returns what one thread copies next, for {@link #copy}: a batch of each segment that has one; empty where all was handed out. */
    List<Batch> next() {
        if (segments.size() == 1) {
            return longest.hasNext() ? List.of(longest.next()) : List.of();
        }
        long end = ByteSums.roundDown(longest.position(), PageSize.HUGE_BYTES) + PageSize.HUGE_BYTES;
        double share = (double) end / longest.byteSize();
        List<Batch> batches = new ArrayList<>();
        for (SegmentCopy segment : segments) {
            long itsEnd = share < 1 ? nearestHugePage(segment.byteSize() * share) : segment.byteSize();
            if (segment.hasNext() && segment.position() < itsEnd) {
                batches.add(segment.nextUpTo(itsEnd));
            }
        }
        return batches;
    }

    /** No two threads share a huge page: they would make it twice. */
    private static long nearestHugePage(double offset) {
        return Math.round(offset / PageSize.HUGE_BYTES) * PageSize.HUGE_BYTES;
    }

    /** Copies batches that were handed out. One thread may do so beside others. */
    void copy(List<Batch> batches) {
        List<BatchCopy> copies = new ArrayList<>();
        for (int i = 0; i < batches.size(); i++) {
            copies.add(new BatchCopy(batches.get(i), i, batches.size(), progress));
        }
        try (ScatterCopy scatter = new ScatterCopy(progress)) {
            while (copies.get(0).hasNext()) { // more than once in a group of one only
                BatchCopy.copyNext(copies, scatter);
            }
        }
        copies.forEach(BatchCopy::finish);
    }

    /** Gives up what the segments hold; only once no thread copies any more. */
    void close() {
        segments.forEach(SegmentCopy::close);
    }
}
