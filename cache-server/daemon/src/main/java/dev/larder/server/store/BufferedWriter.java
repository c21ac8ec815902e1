package dev.larder.server.store;

import dev.larder.internal.posix.BulkIo;
import java.nio.ByteBuffer;

/** Shows a buffer that stays in cache. Reserves space, then writes the buffer. */
final class BufferedWriter extends SegmentWriter {
    /** Small enough to stay in a core's cache between reading, checksum and writing. */
    private static final int BUFFER_BYTES = 256 << 10;

    private static final long RESERVE_STEP_BYTES = 8 << 20;

    /**
     * One for each copying thread, divided among the writers that it uses together. There are few such threads, and they end with their
     * load.
     */
    private static final ThreadLocal<ByteBuffer> BUFFER =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(BUFFER_BYTES));

    private final ByteBuffer buffer;
    private final long address;
    private long reservedEnd;

    BufferedWriter(IncomingSegment segment, long start, long end, int number, int count) {
        super(segment, start, end);
        int byteSize = BUFFER_BYTES / count;
        this.buffer = BUFFER.get().slice(number * byteSize, byteSize);
        this.address = BulkIo.system().addressOf(BUFFER.get()) + (long) number * byteSize;
        this.reservedEnd = start;
        show(buffer, address, start);
    }

    @Override
    void showNext(long offset) {
        finish();
        show(buffer, address, offset);
    }

    @Override
    public void finish() {
        long filled = position() - shownStart();
        if (filled > 0) {
            reserve(position());
            segment().write(shownStart(), address, filled);
            show(buffer, address, position());
        }
    }

    private void reserve(long needed) {
        while (reservedEnd < needed) {
            long step = Math.min(RESERVE_STEP_BYTES, end() - reservedEnd);
            segment().reserve(reservedEnd, step);
            reservedEnd += step;
        }
    }
}
