package dev.larder.server.store;

import dev.larder.internal.posix.BulkIo;
import java.nio.ByteBuffer;

/** A buffer that stays in cache. Space is reserved, then the buffer is written. */
final class BufferedWindow extends Window {
    /** Small enough to stay in a core's cache between reading, checksum and writing. */
    private static final int BUFFER_BYTES = 256 << 10;

    private static final long RESERVE_STEP_BYTES = 8 << 20;

    /** One for each copying thread, which windows that it fills at once divide among them: they are few, and end with their load. */
    private static final ThreadLocal<ByteBuffer> BUFFER =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(BUFFER_BYTES));

    private final IncomingSegment segment;
    private final ByteBuffer buffer;
    private final long address;
    private final int byteSize;
    private final long end;
    private long reservedEnd;

    BufferedWindow(IncomingSegment segment, BulkIo io, long start, long end, int number, int count) {
        super(BUFFER.get());
        this.segment = segment;
        this.byteSize = BUFFER_BYTES / count;
        this.buffer = BUFFER.get().slice(number * byteSize, byteSize);
        this.address = io.addressOf(BUFFER.get()) + (long) number * byteSize;
        this.end = end;
        this.reservedEnd = start;
        show(buffer, address, start, byteSize);
    }

    @Override
    void moveTo(long position, long next) {
        finish(position);
        show(buffer, address, next, byteSize);
    }

    @Override
    void finish(long position) {
        long filled = position - offset();
        if (filled > 0) {
            reserve(position);
            segment.write(offset(), address, filled);
            show(buffer, address, position, byteSize);
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
