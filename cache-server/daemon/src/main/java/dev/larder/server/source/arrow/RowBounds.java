package dev.larder.server.source.arrow;

import dev.larder.server.source.ArrayData;

/** Where rows of any length begin and end, batch after batch. What lies between the first and the last of a batch is read later. */
final class RowBounds {
    private final Pieces pieces = ConvertedData.OfOffsets.newPieces();
    private long elements;
    private long first;
    private long last;

    /** Takes the offsets of some rows of the field that was entered last. */
    void take(BatchCursor batch, int width, long from, long to) {
        batch.nextOffsets(width);
        long offset = batch.bufferOffset();
        first = 0;
        last = 0;
        if (from < to) {
            first = batch.file().number(offset + from * width, width);
            last = batch.file().number(offset + to * width, width);
        }
        if (first < 0 || last < first) {
            throw batch.file().refusal("offsets of its rows are out of order");
        }
        pieces.add(batch.file().identity(), to - from, offset + from * width, width, first, last, elements);
        elements = Math.addExact(elements, last - first);
    }

    /** Returns the first element of the rows that were taken last. */
    long first() {
        return first;
    }

    /** Returns where the elements of the rows end that were taken last. */
    long last() {
        return last;
    }

    /** Returns the elements of all rows. */
    long elements() {
        return elements;
    }

    long rows() {
        return pieces.rows();
    }

    ArrayData offsets() {
        return new ConvertedData.OfOffsets(pieces, false);
    }

    ArrayData lengths() {
        return new ConvertedData.OfOffsets(pieces, true);
    }
}
