package dev.larder.server.source.arrow;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Texts or bytes of one batch that lie anywhere in some buffers. Reads some hundred views at a time. */
final class Views {
    private static final int VIEW_BYTES = 16;
    private static final int MOST_INLINE_BYTES = 12;
    private static final int BUFFER_OFFSET = 8;
    private static final int PLACE_OFFSET = 12;
    private static final int VIEWS_AT_ONCE = 512;

    private final ArrowFile file;
    private final String column;
    private final long rows;
    private final int longest;
    private final long viewsOffset;
    private final long[] offsets;
    private final long[] sizes;
    private final ByteBuffer views =
            ByteBuffer.allocate(VIEWS_AT_ONCE * VIEW_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private long first;
    private long end;

    /**
     * Takes the buffers of the field that was entered last.
     *
     * @param rows at least one more than the number of the last row that is read
     * @param longest the most bytes of a row, which goes through the heap
     */
    Views(BatchCursor batch, String column, long rows, int longest) {
        this.file = batch.file();
        this.column = column;
        this.rows = rows;
        this.longest = longest;
        batch.nextBuffer(Math.multiplyExact(rows, VIEW_BYTES));
        this.viewsOffset = batch.bufferOffset();
        int count = batch.moreBuffers();
        this.offsets = new long[count];
        this.sizes = new long[count];
        for (int i = 0; i < count; i++) {
            batch.nextBuffer(0);
            offsets[i] = batch.bufferOffset();
            sizes[i] = batch.bufferBytes();
        }
    }

    /** Returns the bytes of a row, good until the next call. Rows may share bytes. */
    ByteBuffer row(long row) {
        if (row < first || row >= end) {
            first = row;
            end = Math.min(rows, row + VIEWS_AT_ONCE);
            views.clear().limit((int) (end - first) * VIEW_BYTES);
            file.read(viewsOffset + first * VIEW_BYTES, views);
        }
        int view = (int) (row - first) * VIEW_BYTES;
        int length = views.getInt(view);
        if (length < 0 || length > longest) {
            throw file.refusal("column " + column + " has a view of " + length + " bytes");
        } else if (length <= MOST_INLINE_BYTES) {
            return views.slice(view + Integer.BYTES, length);
        }
        int buffer = views.getInt(view + BUFFER_OFFSET);
        long place = views.getInt(view + PLACE_OFFSET);
        if (buffer < 0 || buffer >= offsets.length || place < 0 || place > sizes[buffer] - length) {
            throw file.refusal("column " + column + " has views beyond its buffers");
        }
        ByteBuffer bytes = ByteBuffer.allocate(length);
        file.read(offsets[buffer] + place, bytes);
        return bytes;
    }
}
