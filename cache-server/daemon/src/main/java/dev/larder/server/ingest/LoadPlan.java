package dev.larder.server.ingest;

import dev.larder.layout.StoreLayout;
import dev.larder.server.source.SourceArray;
import dev.larder.server.store.Store;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

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
        return segments.stream()
                .mapToLong(segment -> Store.storedBytes(segment.byteSize()))
                .sum();
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
     */
    record Placement(SourceArray array, long headOffset, long dataOffset) {
        /** Returns the bytes of the header. */
        ByteBuffer head() {
            return array.header().encode((int) (dataOffset - headOffset));
        }
    }

    /** Lays the arrays of one dataset, which are sorted by name, out: what the rule says is packed, and a file for each other. */
    static LoadPlan of(List<SourceArray> arrays, PackRule rule) {
        List<SourceArray> small = arrays.stream()
                .filter(array -> array.byteSize() < rule.belowBytes())
                .toList();
        boolean isPacked = small.size() >= rule.leastArrays();
        List<Segment> segments = new ArrayList<>(isPacked ? Packing.of(small, rule) : List.of());
        for (SourceArray array : arrays) {
            if (!isPacked || array.byteSize() >= rule.belowBytes()) {
                segments.add(alone(array));
            }
        }
        segments.sort(Comparator.comparingLong(Segment::byteSize).reversed());
        return new LoadPlan(segments);
    }

    private static Segment alone(SourceArray array) {
        long dataOffset = array.header().encode(StoreLayout.DATA_ALIGNMENT).remaining();
        String file = StoreLayout.arrayFile(array.name().array());
        return new Segment(file, dataOffset + array.byteSize(), List.of(new Placement(array, 0, dataOffset)));
    }
}
