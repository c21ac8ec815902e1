package dev.larder.server.ingest;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.source.SourceArray;
import dev.larder.server.store.Store;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The place of every array in the segments of a new version, known before the first byte is written. A plan is carried out once.
 *
 * @param segments the files of the version, the longest first
 */
record LoadPlan(List<Segment> segments) {
    LoadPlan {
        segments = List.copyOf(segments);
    }

    /** Returns the space that the segments will occupy. */
    long storedBytes() {
        return ByteSums.sum(segments.stream().mapToLong(segment -> Store.storedBytes(segment.byteSize())));
    }

    /** One file and the arrays in it, in their order. */
    record Segment(String file, long byteSize, List<SegmentArray> arrays) {
        Segment {
            arrays = List.copyOf(arrays);
        }
    }

    /** Plans the arrays of one dataset: by the rule some share packs, in the order of their names; each other array has its own file. */
    static LoadPlan of(List<SourceArray> arrays, PackRule rule) {
        Predicate<SourceArray> isPacked = rule.packed(arrays);
        List<SourceArray> packed = arrays.stream()
                .filter(isPacked)
                .sorted(Comparator.comparing(array -> array.name().array()))
                .toList();
        List<Segment> segments = new ArrayList<>(Packing.of(packed, rule));
        arrays.stream().filter(isPacked.negate()).map(LoadPlan::alone).forEach(segments::add);
        segments.sort(Comparator.comparingLong(Segment::byteSize).reversed());
        return new LoadPlan(segments);
    }

    /** Returns a plan for the same arrays and others. */
    LoadPlan with(List<SourceArray> others, PackRule rule) {
        Stream<SourceArray> planned =
                segments.stream().flatMap(segment -> segment.arrays().stream()).map(SegmentArray::source);
        return others.isEmpty()
                ? this
                : of(Stream.concat(planned, others.stream()).toList(), rule);
    }

    private static Segment alone(SourceArray array) {
        long dataOffset = StoreLayout.header(array.header()).remaining();
        String file = StoreLayout.arrayFile(array.name().array());
        return new Segment(
                file,
                ByteSums.add(dataOffset, array.byteSize()),
                List.of(new SegmentArray(array, 0, dataOffset, null)));
    }
}
