package dev.larder.server.source.arrow;

import dev.larder.server.source.ArrayData;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceIdentity;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** Data that lies in files in another form, and is converted while it is read. */
abstract class ConvertedData implements ArrayData {
    private static final int ROWS_AT_ONCE = 8 << 10;

    private final Pieces pieces;
    private final int itemBytes;

    /** Converts pieces, each row to so many bytes. */
    ConvertedData(Pieces pieces, int itemBytes) {
        this.pieces = pieces;
        this.itemBytes = itemBytes;
    }

    /** Puts what comes before the first row. */
    void begin(ByteBuffer out) {}

    /** Converts rows of a piece, few enough for the buffer. */
    abstract void convert(Input in, int piece, long row, int count, ByteBuffer out);

    final Pieces pieces() {
        return pieces;
    }

    @Override
    public final ReadableByteChannel open() {
        return new Converting();
    }

    /** The file of a piece; its bytes are little-endian. */
    static final class Input {
        private final SourceIdentity file;
        private final FileChannel channel;
        private ByteBuffer step = ByteBuffer.allocate(0);

        private Input(SourceIdentity file) throws IOException {
            this.file = file;
            this.channel = FileChannel.open(file.file(), StandardOpenOption.READ);
        }

        /** Returns a stretch; it is good until the next call. */
        ByteBuffer read(long offset, int length) {
            if (step.capacity() < length) {
                step = ByteBuffer.allocate(length);
            }
            step.clear().limit(length).order(ByteOrder.LITTLE_ENDIAN);
            ArrowFile.read(channel, file, offset, step);
            return step;
        }

        RuntimeException refusal(long offset, String reason) {
            return Refusal.of(file.file(), offset, reason);
        }
    }

    private final class Converting implements ReadableByteChannel {
        private final ByteBuffer ready =
                ByteBuffer.allocate(ROWS_AT_ONCE * itemBytes + Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        private @Nullable Input input;
        private int piece;
        private long row;
        private boolean open = true;

        Converting() {
            begin(ready);
            ready.flip();
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
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
                    convert(input(pieces.file(piece)), piece, row, count, ready.clear());
                    ready.flip();
                    row += count;
                }
            }
            int length = Math.min(ready.remaining(), target.remaining());
            target.put(ready.slice(ready.position(), length));
            ready.position(ready.position() + length);
            return length;
        }

        private Input input(SourceIdentity file) {
            Input current = input;
            try {
                if (current == null || !current.file.equals(file)) {
                    closeInput();
                    current = new Input(file);
                    input = current;
                }
                return current;
            } catch (IOException e) {
                throw Refusal.unreadable(file.file(), 0, e);
            }
        }

        private void closeInput() throws IOException {
            Input current = input;
            if (current != null) {
                input = null;
                current.channel.close();
            }
        }

        @Override
        public boolean isOpen() {
            return open;
        }

        @Override
        public void close() throws IOException {
            open = false;
            closeInput();
        }
    }

    /** Bits become bytes of 0 and 1. Numbers of a piece: where the bits begin, the first bit. */
    static final class OfBits extends ConvertedData {
        OfBits(Pieces pieces) {
            super(pieces, 1);
        }

        @Override
        void convert(Input in, int piece, long row, int count, ByteBuffer out) {
            long first = pieces().number(piece, 1) + row;
            ByteBuffer bits = read(in, pieces().number(piece, 0), first, count);
            int shift = (int) (first & 7);
            for (int i = shift; i < shift + count; i++) {
                out.put((byte) FileWindow.bit(bits, i));
            }
        }

        /** Reads the bytes that have these bits. */
        static ByteBuffer read(Input in, long offset, long first, int count) {
            int length = (int) (((first + count + 7) >>> 3) - (first >>> 3));
            return in.read(offset + (first >>> 3), length);
        }
    }

    /** Whole numbers of 4 bytes become ones of 8. A number of a piece: where they begin. */
    static final class OfNarrow extends ConvertedData {
        OfNarrow(Pieces pieces) {
            super(pieces, Long.BYTES);
        }

        @Override
        void convert(Input in, int piece, long row, int count, ByteBuffer out) {
            ByteBuffer narrow = in.read(pieces().number(piece, 0) + row * Integer.BYTES, count * Integer.BYTES);
            while (narrow.hasRemaining()) {
                out.putLong(narrow.getInt());
            }
        }
    }

    /**
     * Offsets of rows, which begin with 0 in each batch or anywhere, become those of all rows; or the lengths of the rows. Numbers of a
     * piece: where the offsets begin, the bytes of each, the first of them, the last of them, and the elements before it.
     */
    static final class OfOffsets extends ConvertedData {
        private static final int NUMBERS = 5;

        private final boolean isLengths;

        OfOffsets(Pieces pieces, boolean isLengths) {
            super(pieces, Long.BYTES);
            this.isLengths = isLengths;
        }

        /** Starts the pieces of offsets. */
        static Pieces newPieces() {
            return new Pieces(NUMBERS);
        }

        @Override
        void begin(ByteBuffer out) {
            if (!isLengths) {
                out.putLong(0);
            }
        }

        @Override
        void convert(Input in, int piece, long row, int count, ByteBuffer out) {
            int width = (int) pieces().number(piece, 1);
            long at = pieces().number(piece, 0) + row * width;
            long first = pieces().number(piece, 2);
            long last = pieces().number(piece, 3);
            long before = pieces().number(piece, 4);
            ByteBuffer offsets = in.read(at, (count + 1) * width);
            long previous = next(offsets, width);
            for (int i = 0; i < count; i++) {
                long offset = next(offsets, width);
                if (previous < first || offset < previous || offset > last) {
                    throw in.refusal(at, "offsets of its rows are out of order");
                }
                out.putLong(isLengths ? offset - previous : before + offset - first);
                previous = offset;
            }
        }

        private static long next(ByteBuffer offsets, int width) {
            return width == Integer.BYTES ? offsets.getInt() : offsets.getLong();
        }
    }

    /** Offsets of rows that all have so many elements. A number of a piece: the rows before it. */
    static final class OfEqualRows extends ConvertedData {
        private final long size;

        OfEqualRows(Pieces pieces, long size) {
            super(pieces, Long.BYTES);
            this.size = size;
        }

        @Override
        void begin(ByteBuffer out) {
            out.putLong(0);
        }

        @Override
        void convert(Input in, int piece, long row, int count, ByteBuffer out) {
            long before = pieces().number(piece, 0) + row;
            for (int i = 1; i <= count; i++) {
                out.putLong((before + i) * size);
            }
        }
    }
}
