package dev.larder.server.store;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.posix.PageSize;
import java.nio.ByteBuffer;

/** Pages of the mapped segment, populated before they are shown, so that touching them cannot fail. */
final class MappedWindow extends Window {
    private final IncomingSegment segment;
    private final long end;

    MappedWindow(IncomingSegment segment, long start, long end) {
        super(ByteBuffer.allocate(0));
        this.segment = segment;
        this.end = end;
        show(ByteBuffer.allocate(0), 0, start, 0);
    }

    @Override
    void moveTo(long position, long next) {
        long from = ByteSums.roundDown(next, PageSize.BYTES);
        long to = Math.min(end, ByteSums.roundDown(next, PageSize.HUGE_BYTES) + PageSize.HUGE_BYTES);
        long address = segment.populate(from, to - from);
        int byteSize = (int) (to - from);
        show(segment.posix().bufferOver(address, byteSize), address, from, byteSize);
    }

    @Override
    void finish(long position) {
        // the bytes are where they belong
    }
}
