package dev.larder.server.ingest;

import dev.larder.server.source.FileRegion;
import java.util.List;

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
