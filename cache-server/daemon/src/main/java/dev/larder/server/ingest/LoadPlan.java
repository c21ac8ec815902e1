package dev.larder.server.ingest;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.server.source.SourceArray;
import dev.larder.server.store.Store;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Says where in which segment of a new version every array goes. Everything is known before the first byte is written.
 *
 * @param segments the files of the version, the longest first
 */
record LoadPlan(List<Segment> segments) {
    LoadPlan {
        segments = List.copyOf(segments);
    }

    /** Returns what all segments will occupy. */
    long storedBytes() {
        return ByteSums.sum(segments.stream().mapToLong(segment -> Store.storedBytes(segment.byteSize())));
    }

    /** One file and what goes into it. */
    record Segment(String file, long byteSize, List<Placement> placements) {
        Segment {
            placements = List.copyOf(placements);
        }
    }

    /**
     * One array in a segment.
     *
     * @param headOffset where its {@code .npy} header goes
     * @param dataOffset where its data goes, right after the header
     * @param sharedHead the bytes of the header where other arrays have the same; null where they are made when asked for
     */
    record Placement(
            SourceArray array,
            long headOffset,
            long dataOffset,
            @Nullable ByteBuffer sharedHead) {
        /** Returns the bytes of the header. */
        ByteBuffer head() {
            if (sharedHead != null) {
                return sharedHead.duplicate();
            }
            return array.header().encode((int) (dataOffset - headOffset));
        }
    }

    /** Lays the arrays of one dataset out: what the rule says goes into packs, in the order of names, all else into own files. */
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

    private static Segment alone(SourceArray array) {
        long dataOffset = StoreLayout.header(array.header()).remaining();
        String file = StoreLayout.arrayFile(array.name().array());
        return new Segment(
                file, ByteSums.add(dataOffset, array.byteSize()), List.of(new Placement(array, 0, dataOffset, null)));
    }
}
