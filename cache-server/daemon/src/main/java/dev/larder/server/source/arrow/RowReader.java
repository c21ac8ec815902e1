package dev.larder.server.source.arrow;

import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Kind;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Reads rows of one batch into the heap: numbers, texts or bytes with offsets, or views of texts or bytes in any of several buffers. */
final class RowReader {
    private static final int VIEW_BYTES = 16;
    private static final int MOST_INLINE_BYTES = 12;
    private static final int VIEW_NUMBERS = VIEW_BYTES / Integer.BYTES;
    private static final int BUFFER_NUMBER = 2;
    private static final int OFFSET_NUMBER = 3;

    private final BatchCursor batch;
    private final String column;
    private final ArrowField field;
    private final int longest;
    private final @Nullable BatchBuffer offsets;
    private final BatchBuffer data;
    private final BatchBuffer[] viewed;
    private final BatchBuffer file;

    /**
     * Takes the buffers of the entered field.
     *
     * @param rows the number of rows
     * @param longest the limit for the bytes of a row
     */
    RowReader(BatchCursor batch, String column, ArrowField field, long rows, int longest) {
        this.batch = batch;
        this.column = column;
        this.field = field;
        this.longest = longest;
        boolean isViews = field.kind().hasMoreBuffers();
        boolean isFixed = field.kind() == Kind.FIXED;
        this.offsets = isViews || isFixed ? null : batch.offsets(field.size());
        this.data = batch.buffer(Math.multiplyExact(rows, isViews ? VIEW_BYTES : isFixed ? field.size() : 0));
        this.viewed = new BatchBuffer[isViews ? batch.viewBuffers() : 0];
        for (int i = 0; i < viewed.length; i++) {
            viewed[i] = batch.buffer(0);
        }
        this.file = batch.wholeFile();
    }

    /** Returns the bytes of a row, valid until the next call. */
    ByteBuffer row(long row) {
        if (field.kind().hasMoreBuffers()) {
            return view(row);
        }
        int size = field.size();
        long from = offsets == null ? row * size : offsets.number(row, size);
        long to = offsets == null ? from + size : offsets.number(row + 1, size);
        return data.bytes(from, length(to - from));
    }

    private int length(long bytes) {
        if (bytes < 0 || bytes > longest) {
            throw batch.refusal("column " + column + " has a row of " + bytes + " bytes: the limit is " + longest);
        }
        return (int) bytes;
    }

    private ByteBuffer view(long row) {
        long first = row * VIEW_NUMBERS;
        int length = length(data.number(first, Integer.BYTES));
        if (length <= MOST_INLINE_BYTES) {
            return data.bytes(row * VIEW_BYTES + Integer.BYTES, length);
        }
        int buffer = (int) data.number(first + BUFFER_NUMBER, Integer.BYTES);
        long offset = data.number(first + OFFSET_NUMBER, Integer.BYTES);
        if (buffer < 0 || buffer >= viewed.length || offset < 0 || offset > viewed[buffer].byteSize() - length) {
            throw batch.refusal("column " + column + " has views outside of its buffers");
        }
        return file.bytes(viewed[buffer].offset() + offset, length); // buffers may be many: they share a window
    }
}
