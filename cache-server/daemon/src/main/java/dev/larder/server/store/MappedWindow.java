package dev.larder.server.store;

import java.nio.ByteBuffer;

/** Pages of the mapped segment, populated before they are shown, so that touching them cannot fail. */
final class MappedWindow extends Window {
    /** A huge page: the unit in which memory is to be had. */
    private static final long STEP_BYTES = 2 << 20;

    private static final long PAGE_BYTES = 4096;

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
        long from = next / PAGE_BYTES * PAGE_BYTES;
        long to = Math.min(end, (next / STEP_BYTES + 1) * STEP_BYTES);
        long address = segment.populate(from, to - from);
        int byteSize = (int) (to - from);
        show(segment.posix().bufferOver(address, byteSize), address, from, byteSize);
    }

    @Override
    void finish(long position) {
        // the bytes are where they belong
    }
}
