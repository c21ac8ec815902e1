package dev.larder.server.source.arrow;

import dev.larder.internal.layout.ColumnPart;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The null rows of a column: those of its own bitmaps, and those of the structs that contain it. */
final class Nulls {
    /** The reason to refuse a column with nulls inside of its rows. */
    static final String WITHIN = "rows have nulls in them";

    private static final String MASK = ".mask";
    private static final long NO_BITMAP = -1;

    /** The offset of the bitmap of each batch, and its first bit. */
    private final Pieces pieces = new Pieces(2);

    private final @Nullable Nulls above;
    private boolean isAny;
    private @Nullable BatchBuffer bitmap;

    /** Starts without rows; {@code above} has the same rows in each batch. */
    Nulls(@Nullable Nulls above) {
        this.above = above;
    }

    /** Enters the next field of a batch, and takes its bitmap. */
    void take(BatchCursor batch, long from, long to) {
        batch.node(to);
        BatchBuffer bits = batch.bitmap();
        pieces.add(batch.file(), to - from, bits == null ? NO_BITMAP : bits.offset(), from);
        isAny |= bits != null;
        bitmap = bits;
    }

    /** Returns the number of rows. */
    long rows() {
        return pieces.rows();
    }

    /** Returns whether the own bitmap of the last batch has a null. */
    boolean anyHere() {
        return bitmap != null;
    }

    /** Returns whether a row is null in the own bitmap of the last batch. */
    boolean isNull(long row) {
        return bitmap != null && !bitmap.bit(row);
    }

    /** Enters the next field of a batch, and refuses the column if the field has a null. */
    static void requireNone(BatchCursor batch, long atLeast, String column) {
        batch.node(atLeast);
        if (batch.bitmap() != null) {
            throw new FieldColumn.Unfit(column, WITHIN);
        }
    }

    /** Moves to the next field of a batch, with this many elements for each row; refuses nulls outside of null rows. */
    void requireNoneElsewhere(BatchCursor batch, long from, long to, long each, String column) {
        batch.node(Math.multiplyExact(to, each));
        BatchBuffer inner = batch.bitmap();
        if (inner == null) {
            return;
        } else if (bitmap == null) {
            throw new FieldColumn.Unfit(column, WITHIN);
        }
        for (long row = from; row < to; row++) {
            if (isNull(row)) {
                continue;
            }
            for (long element = row * each; element < (row + 1) * each; element++) {
                if (!inner.bit(element)) {
                    throw new FieldColumn.Unfit(column, WITHIN);
                }
            }
        }
    }

    /** Returns whether any row is null. */
    boolean any() {
        return isAny || (above != null && above.any());
    }

    /** Adds an array that is true for null rows, if there are any. */
    void addMask(String column, FoundArrays arrays) {
        if (any()) {
            ConvertedData mask = new ConvertedData(pieces, 1, this::mask);
            arrays.add(column + MASK, ColumnPart.NONE, "|b1", mask, pieces.rows());
        }
    }

    private void mask(ArrowFile in, int piece, long row, int count, ByteBuffer out) {
        byte[] isNull = new byte[count];
        for (Nulls level = this; level != null; level = level.above) {
            long offset = level.pieces.number(piece, 0);
            if (offset == NO_BITMAP) {
                continue;
            }
            long first = level.pieces.number(piece, 1) + row;
            ByteBuffer bits = BatchBuffer.bits(in, offset, first, count);
            int shift = (int) (first & 7);
            for (int i = 0; i < count; i++) {
                isNull[i] |= (byte) (1 - BatchBuffer.bit(bits, shift + i));
            }
        }
        out.put(isNull);
    }
}
