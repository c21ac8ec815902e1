package dev.larder.server.store;

import dev.larder.internal.posix.BulkIo;
import java.nio.ByteBuffer;

/** A buffer that stays in cache. Space is reserved, then the buffer is written. */
final class BufferedWindow extends Window {
    /** Small enough to stay in a core's cache between reading, checksum and writing. */
    private static final int BUFFER_BYTES = 256 << 10;

    private static final long RESERVE_STEP_BYTES = 8 << 20;

    /** One for each copying thread: they are few, and end with their load. */
    private static final ThreadLocal<ByteBuffer> BUFFER =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(BUFFER_BYTES));

    private final IncomingSegment segment;
    private final ByteBuffer buffer;
    private final long address;
    private final long end;
    private long reservedEnd;

    BufferedWindow(IncomingSegment segment, BulkIo io, long start, long end) {
        super(BUFFER.get());
        this.segment = segment;
        this.buffer = BUFFER.get();
        this.address = io.addressOf(buffer);
        this.end = end;
        this.reservedEnd = start;
        show(buffer, address, start, BUFFER_BYTES);
    }

    @Override
    void moveTo(long position, long next) {
        finish(position);
        show(buffer, address, next, BUFFER_BYTES);
    }

    @Override
    void finish(long position) {
        long byteSize = position - offset();
        if (byteSize > 0) {
            reserve(position);
            segment.write(offset(), address, byteSize);
            show(buffer, address, position, BUFFER_BYTES);
        }
    }

    private void reserve(long needed) {
        while (reservedEnd < needed) {
            long step = Math.min(RESERVE_STEP_BYTES, end - reservedEnd);
            segment.reserve(reservedEnd, step);
            reservedEnd += step;
        }
    }
}
