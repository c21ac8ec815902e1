package dev.larder.readers.tfrecord;

import dev.larder.reader.ByteSequence;
import dev.larder.reader.Output;
import org.jspecify.annotations.Nullable;

/** Writes the rows of one file to the arrays of one feature. */
final class FeatureWriter {
    private final ByteSequence values;
    private final @Nullable ByteSequence offsets;
    private final @Nullable ByteSequence lengths;
    private final @Nullable ByteSequence mask;
    private final @Nullable ByteSequence itemEnds;
    private long element;
    private long item;
    private long count;
    private boolean hasValue;

    FeatureWriter(Output output, FeatureColumn.Place place, long firstRow, boolean isFirst) {
        this.element = place.firstElement();
        int itemBytes = place.kind() == Example.Kind.INTEGERS
                ? Long.BYTES
                : place.kind() == Example.Kind.FLOATS ? Float.BYTES : 1;
        boolean isOfItems = place.form() == FeatureColumn.Form.LISTS_OF_BYTES;
        int first = isOfItems ? place.firstOffer() + 1 : place.firstOffer();
        this.item = place.firstItem();
        this.values = new ByteSequence(output, first, element * itemBytes);
        boolean hasOffsets = place.form() != FeatureColumn.Form.NUMBERS;
        this.offsets = hasOffsets ? offsets(output, isOfItems ? first - 1 : first + 1, firstRow, isFirst) : null;
        this.itemEnds = isOfItems ? offsets(output, first + 1, item, isFirst) : null;
        this.lengths = place.form() == FeatureColumn.Form.LISTS
                ? new ByteSequence(output, first + 2, firstRow * Long.BYTES)
                : null;
        this.mask = place.maskOffer() < 0 ? null : new ByteSequence(output, place.maskOffer(), firstRow);
    }

    /** The first file writes the leading zero. */
    private static ByteSequence offsets(Output output, int offer, long firstRow, boolean isFirst) {
        ByteSequence offsets = new ByteSequence(output, offer, isFirst ? 0 : (firstRow + 1) * Long.BYTES);
        if (isFirst) {
            offsets.putLong(0);
        }
        return offsets;
    }

    void integer(long value) {
        values.putLong(value);
        count++;
    }

    void floating(int bits) {
        values.putInt(bits);
        count++;
    }

    void bytes(byte[] array, int from, int length) {
        values.put(array, from, length);
        count += length;
        hasValue = true;
        if (itemEnds != null) {
            item++;
            itemEnds.putLong(element + count);
        }
    }

    void endRow() {
        element += count;
        if (offsets != null) {
            offsets.putLong(itemEnds == null ? element : item);
        }
        if (lengths != null) {
            lengths.putLong(count);
        }
        if (mask != null) {
            mask.put(hasValue ? (byte) 0 : 1);
        }
        hasValue = false;
        count = 0;
    }

    void flush() {
        values.flush();
        if (offsets != null) {
            offsets.flush();
        }
        if (itemEnds != null) {
            itemEnds.flush();
        }
        if (lengths != null) {
            lengths.flush();
        }
        if (mask != null) {
            mask.flush();
        }
    }
}
