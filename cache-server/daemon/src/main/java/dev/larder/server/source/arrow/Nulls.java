package dev.larder.server.source.arrow;

import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Knows which rows of a column are null: those that its own bitmaps name, and those of what it is a part of. */
final class Nulls {
    private static final String MASK = ".mask";
    private static final long NO_BITMAP = -1;

    /** Of each batch: where its bitmap begins, and the first bit of it. */
    private final Pieces pieces = new Pieces(2);

    private final @Nullable Nulls above;
    private boolean isAny;
    private @Nullable FileWindow bitmap;

    /** Starts without any row; {@code above} has as many rows in each batch. */
    Nulls(@Nullable Nulls above) {
        this.above = above;
    }

    /** Enters the next field of a batch, and takes its bitmap. */
    void take(BatchCursor batch, long from, long to) {
        batch.nextNode(to);
        boolean isAnyHere = takeBitmap(batch);
        pieces.add(
                batch.file().identity(), to - from, isAnyHere ? batch.bufferOffset() : NO_BITMAP, isAnyHere ? from : 0);
        isAny |= isAnyHere;
        bitmap = isAnyHere ? new FileWindow(batch.file(), batch.bufferOffset(), batch.bufferBytes()) : null;
    }

    private static boolean takeBitmap(BatchCursor batch) {
        boolean isAny = batch.nulls() > 0;
        batch.nextBuffer(isAny ? batch.rows() / Byte.SIZE + (batch.rows() % Byte.SIZE > 0 ? 1 : 0) : 0);
        return isAny;
    }

    /** Returns how many rows were taken. */
    long rows() {
        return pieces.rows();
    }

    /** Tells whether any row of the batch that was taken last is null by itself. */
    boolean anyHere() {
        return bitmap != null;
    }

    /** Tells whether an element of the batch that was taken last is null by itself. */
    boolean isNull(long element) {
        return bitmap != null && !bitmap.bit(element);
    }

    /** Enters the next field of a batch, whose elements must not be null. */
    static void requireNone(BatchCursor batch, long atLeast, String column) {
        batch.nextNode(atLeast);
        if (takeBitmap(batch)) {
            throw within(batch, column);
        }
    }

    private static RuntimeException within(BatchCursor batch, String column) {
        return batch.file().unfit(column, "rows have nulls in them");
    }

    /** Enters the next field of a batch, which has so many elements for each row: those of a row that is null may be null, too. */
    void requireNoneElsewhere(BatchCursor batch, long from, long to, long each, String column) {
        long last = Math.multiplyExact(to, each);
        batch.nextNode(last);
        if (!takeBitmap(batch)) {
            return;
        } else if (bitmap == null) {
            throw within(batch, column);
        }
        FileWindow inner = new FileWindow(batch.file(), batch.bufferOffset(), batch.bufferBytes());
        for (long row = from; row < to; row++) {
            if (isNull(row)) {
                continue;
            }
            for (long element = row * each; element < (row + 1) * each; element++) {
                if (!inner.bit(element)) {
                    throw within(batch, column);
                }
            }
        }
    }

    /** Tells whether any row is null. */
    boolean any() {
        return isAny || (above != null && above.any());
    }

    /** Adds an array that is true where a row is null, if any is. */
    void addMask(String column, FoundArrays arrays) {
        if (any()) {
            arrays.add(column + MASK, Dtype.parse("|b1"), new Mask(), pieces.rows());
        }
    }

    private final class Mask extends ConvertedData {
        Mask() {
            super(pieces, 1);
        }

        @Override
        void convert(Input in, int piece, long row, int count, ByteBuffer out) {
            int start = out.position();
            out.put(new byte[count]);
            for (Nulls level = Nulls.this; level != null; level = level.above) {
                long offset = level.pieces.number(piece, 0);
                if (offset == NO_BITMAP) {
                    continue;
                }
                long first = level.pieces.number(piece, 1) + row;
                ByteBuffer bits = OfBits.read(in, offset, first, count);
                int shift = (int) (first & 7);
                for (int i = 0; i < count; i++) {
                    if (FileWindow.bit(bits, shift + i) == 0) {
                        out.put(start + i, (byte) 1);
                    }
                }
            }
        }
    }
}
