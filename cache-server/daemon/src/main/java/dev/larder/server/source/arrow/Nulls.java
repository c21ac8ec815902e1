package dev.larder.server.source.arrow;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.server.source.Partitioning;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The null rows of a column, or the null elements of its lists: those of its own bitmaps, and those of the structs or lists of one length that
 * contain it.
 */
final class Nulls {
    /** The reason to refuse a column with null lists inside of its rows. */
    private static final String NULL_LISTS = "rows have null lists in them";

    private static final String MASK = ".mask";
    private static final long NO_BITMAP = -1;
    private static final long ALL_NULL = -2;

    /** The offset of the bitmap of each batch, and its first bit. */
    private final Pieces pieces = new Pieces(2);

    private final @Nullable Nulls above;
    private final long each;
    private final boolean isOfElements;
    private boolean isAny;
    private @Nullable BatchBuffer bitmap;

    private Nulls(@Nullable Nulls above, long each, boolean isOfElements) {
        this.above = above;
        this.each = each;
        this.isOfElements = isOfElements;
    }

    /** Starts without rows; {@code above} has the same rows in each batch. */
    static Nulls ofRows(@Nullable Nulls above) {
        return new Nulls(above, 1, false);
    }

    /** Starts without elements; each row of {@code rows} has as many of them. */
    static Nulls ofElements(Nulls rows, long each) {
        return new Nulls(rows, each, true);
    }

    /** Starts without elements of lists of any length. */
    static Nulls ofElements() {
        return new Nulls(null, 1, true);
    }

    /** Enters the next field of a batch, and takes its bitmap. */
    void take(BatchCursor batch, long from, long to) {
        batch.node(to);
        BatchBuffer bits = batch.bitmap();
        bitmap = bits;
        pieces.add(batch.file(), to - from, bits == null ? NO_BITMAP : bits.offset(), from);
        isAny |= bits != null && !(isOfElements && areAbove(bits, from, to));
    }

    /** Returns whether all nulls of a bitmap are in null rows. */
    private boolean areAbove(BatchBuffer bits, long from, long to) {
        Nulls rows = above;
        for (long element = from; element < to; element++) {
            if (!bits.bit(element) && (rows == null || !rows.isNull(element / each))) {
                return false;
            }
        }
        return true;
    }

    /** Enters the next field of a batch, which has no bitmap: each of its rows is null. */
    void takeAll(BatchCursor batch, long from, long to) {
        batch.node(to);
        pieces.add(batch.file(), to - from, ALL_NULL, from);
        isAny |= to > from;
    }

    /** Returns the number of rows. */
    long rows() {
        return pieces.rows();
    }

    /** Returns whether the own bitmap of the last batch has a null. */
    boolean anyHere() {
        return bitmap != null;
    }

    /** Returns whether a row of the last batch is null. */
    boolean isNull(long row) {
        return (bitmap != null && !bitmap.bit(row)) || (above != null && above.isNull(row / each));
    }

    /** Enters the next field of a batch, and refuses the column if the field, a list in other lists, has a null. */
    static void requireNone(BatchCursor batch, long atLeast, String column) {
        batch.node(atLeast);
        if (batch.bitmap() != null) {
            throw new FieldColumn.Unfit(column, NULL_LISTS);
        }
    }

    /** Enters the next field of a batch, with this many lists for each row; refuses null ones outside of null rows. */
    void requireNoneElsewhere(BatchCursor batch, long from, long to, long lists, String column) {
        batch.node(Math.multiplyExact(to, lists));
        BatchBuffer inner = batch.bitmap();
        if (inner != null && !ofElements(this, lists).areAbove(inner, from * lists, to * lists)) {
            throw new FieldColumn.Unfit(column, NULL_LISTS);
        }
    }

    /** Returns whether any row is null, or any element in a row that is not. */
    boolean any() {
        return isAny || (!isOfElements && above != null && above.any());
    }

    /** Adds an array that is true for null rows, if there are any. */
    void addMask(String column, FoundArrays arrays) {
        addMask(column, arrays, pieces.rows());
    }

    /** Adds an array that is true for null elements, and for those of null rows, if there are null elements. */
    void addElementMask(String column, FoundArrays arrays, long... shape) {
        Partitioning partitioning = shape.length == 1 ? Partitioning.IMPOSSIBLE : Partitioning.BY_ROWS;
        arrays.addingAs(partitioning, () -> addMask(column + GroupColumn.ITEMS, arrays, shape));
    }

    private void addMask(String column, FoundArrays arrays, long... shape) {
        if (any()) {
            arrays.add(column + MASK, ColumnPart.NONE, "|b1", new ConvertedData(pieces, 1, this::mask), shape);
        }
    }

    /** Puts 1 for each row of a piece that is null, 0 for the others. */
    void mask(ArrowFile in, int piece, long row, int count, ByteBuffer out) {
        byte[] isNull = new byte[count];
        long times = 1;
        for (Nulls level = this; level != null; level = level.above) {
            level.mark(in, piece, row, times, isNull);
            times *= level.each;
        }
        out.put(isNull);
    }

    /** Marks nulls, with this many marks for each row. */
    private void mark(ArrowFile in, int piece, long first, long times, byte[] isNull) {
        long offset = pieces.number(piece, 0);
        if (offset == NO_BITMAP) {
            return;
        } else if (offset == ALL_NULL) {
            Arrays.fill(isNull, (byte) 1);
            return;
        }
        long row = first / times;
        long bit = pieces.number(piece, 1) + row;
        int count = (int) ((first + isNull.length - 1) / times - row + 1);
        ByteBuffer bits = BatchBuffer.bits(in, offset, bit, count);
        int shift = (int) (bit & 7);
        for (int i = 0; i < isNull.length; i++) {
            isNull[i] |= (byte) (1 - BatchBuffer.bit(bits, shift + (int) ((first + i) / times - row)));
        }
    }
}
