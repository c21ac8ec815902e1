package dev.larder.server.source.arrow;

import dev.larder.server.source.ArrayData;
import dev.larder.server.source.SourceIdentity;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import org.jspecify.annotations.Nullable;

/** Data that is converted while it is read, piece after piece. */
final class ConvertedData implements ArrayData {
    private static final int ROWS_AT_ONCE = 8 << 10;

    private final Pieces pieces;
    private final int itemBytes;
    private final int zeros;
    private final Conversion conversion;

    /** Converts rows of a piece. */
    interface Conversion {
        /** Puts an item for each of {@code count} rows from {@code row}; the buffer has room for them. */
        void convert(ArrowFile in, int piece, long row, int count, ByteBuffer out);
    }

    /** Converts each row to an item of this size. */
    ConvertedData(Pieces pieces, int itemBytes, Conversion conversion) {
        this(pieces, itemBytes, 0, conversion);
    }

    /** Converts each row to an item of this size; {@code zeros} bytes precede the first item. */
    ConvertedData(Pieces pieces, int itemBytes, int zeros, Conversion conversion) {
        this.pieces = pieces;
        this.itemBytes = itemBytes;
        this.zeros = zeros;
        this.conversion = conversion;
    }

    @Override
    public ReadableByteChannel open() {
        return new Converting();
    }

    private final class Converting implements ReadableByteChannel {
        private final ByteBuffer ready = ByteBuffer.allocate(ROWS_AT_ONCE * itemBytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .limit(zeros);
        private @Nullable ArrowFile input;
        private int piece;
        private long row;
        private boolean open = true;

        @Override
        public int read(ByteBuffer target) {
            if (!target.hasRemaining()) {
                return 0;
            }
            while (!ready.hasRemaining()) {
                if (piece == pieces.count()) {
                    return -1;
                } else if (row == pieces.rows(piece)) {
                    piece++;
                    row = 0;
                } else {
                    int count = (int) Math.min(ROWS_AT_ONCE, pieces.rows(piece) - row);
                    conversion.convert(input(pieces.file(piece)), piece, row, count, ready.clear());
                    ready.flip();
                    row += count;
                }
            }
            int length = Math.min(ready.remaining(), target.remaining());
            target.put(ready.slice(ready.position(), length));
            ready.position(ready.position() + length);
            return length;
        }

        private ArrowFile input(SourceIdentity file) {
            ArrowFile current = input;
            if (current == null || !current.identity().equals(file)) {
                closeInput();
                current = ArrowFile.open(file);
                input = current;
            }
            return current;
        }

        private void closeInput() {
            ArrowFile current = input;
            if (current != null) {
                input = null;
                current.close();
            }
        }

        @Override
        public boolean isOpen() {
            return open;
        }

        @Override
        public void close() {
            open = false;
            closeInput();
        }
    }
}
