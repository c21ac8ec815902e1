package dev.larder.server.source.arrow;

import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Kind;
import dev.larder.server.source.ArrayData;
import java.nio.ByteBuffer;

/**
 * The bounds of rows that have any number of elements, or all the same. Reads the first and the last offset of each batch; the others
 * are read and checked when the array is read.
 */
final class RowBounds {
    private static final int OFFSETS = 0;
    private static final int FIRST = 1;
    private static final int LAST = 2;
    private static final int BEFORE = 3;

    private final boolean isFixed;
    private final int size;
    private final Pieces pieces = new Pieces(BEFORE + 1);
    private long elements;
    private long first;
    private long last;

    RowBounds(ArrowField field) {
        this.isFixed = field.kind() == Kind.FIXED_LISTS;
        this.size = field.size();
    }

    /** Takes rows of the entered field. */
    void take(BatchCursor batch, long from, long to) {
        long place = 0;
        if (isFixed) {
            first = Math.multiplyExact(from, size);
            last = Math.multiplyExact(to, size);
        } else {
            BatchBuffer offsets = batch.offsets(size);
            first = from < to ? offsets.single(from, size) : 0;
            last = from < to ? offsets.single(to, size) : 0;
            place = offsets.offset() + from * size;
        }
        if (first < 0 || last < first) {
            throw batch.refusal("offsets of its rows are out of order");
        }
        pieces.add(batch.file(), to - from, place, first, last, elements);
        elements = Math.addExact(elements, last - first);
    }

    /** Returns the first element of the rows that were taken last. */
    long first() {
        return first;
    }

    /** Returns the end of the elements of the rows that were taken last. */
    long last() {
        return last;
    }

    long rows() {
        return pieces.rows();
    }

    /** Returns the offsets of all rows, of 8 bytes. */
    ArrayData offsets() {
        return new ConvertedData(
                pieces,
                Long.BYTES,
                Long.BYTES,
                isFixed ? this::multiply : (in, piece, row, count, out) -> convert(false, in, piece, row, count, out));
    }

    /** Returns the number of elements of each row. */
    ArrayData lengths() {
        return new ConvertedData(
                pieces, Long.BYTES, (in, piece, row, count, out) -> convert(true, in, piece, row, count, out));
    }

    private void multiply(ArrowFile in, int piece, long row, int count, ByteBuffer out) {
        long before = pieces.number(piece, BEFORE) + row * size;
        for (int i = 1; i <= count; i++) {
            out.putLong(before + (long) i * size);
        }
    }

    private void convert(boolean isLengths, ArrowFile in, int piece, long row, int count, ByteBuffer out) {
        long place = pieces.number(piece, OFFSETS) + row * size;
        long least = pieces.number(piece, FIRST);
        long most = pieces.number(piece, LAST);
        long shift = pieces.number(piece, BEFORE) - least;
        ByteBuffer offsets = in.read(place, (count + 1) * size);
        boolean isNarrow = size == Integer.BYTES;
        long begin = number(offsets, 0, isNarrow);
        for (int i = 0; i < count; i++) {
            long end = number(offsets, i + 1, isNarrow);
            if (begin < least || end < begin || end > most) {
                in.enter(place);
                throw in.refusal("offsets of its rows are out of order");
            }
            out.putLong(isLengths ? end - begin : end + shift);
            begin = end;
        }
    }

    private static long number(ByteBuffer offsets, int index, boolean isNarrow) {
        return isNarrow ? offsets.getInt(index * Integer.BYTES) : offsets.getLong(index * Long.BYTES);
    }
}
