package dev.larder.server.store;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.PageSize;
import java.nio.ByteBuffer;

/** Shows pages of the mapped segment. Their memory is allocated first, so that touching them cannot fail. */
final class MappedWriter extends SegmentWriter {
    MappedWriter(IncomingSegment segment, long start, long end) {
        super(segment, start, end);
        show(ByteBuffer.allocate(0), 0, start);
    }

    @Override
    void showNext(long offset) {
        long from = ByteSums.roundDown(offset, PageSize.BYTES);
        long to = Math.min(end(), ByteSums.roundDown(offset, PageSize.HUGE_BYTES) + PageSize.HUGE_BYTES);
        long address = segment().populate(from, to - from);
        show(segment().bufferOver(address, (int) (to - from)), address, from);
    }

    @Override
    public void finish() {
        // the bytes are already in the segment
    }
}
