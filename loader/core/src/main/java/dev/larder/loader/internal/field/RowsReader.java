package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Copies rows of an array as they are stored. */
final class RowsReader extends FieldReader {
    private final ArrayView array;

    RowsReader(ArrayView array, String name, @Nullable RowLookup lookup, Place place) {
        super(array.name(), List.of(output(array, name)), lookup, place);
        this.array = array;
    }

    private static OutputArray output(ArrayView array, String name) {
        return new OutputArray(name, array.dtype(), Arrays.copyOfRange(array.shape(), 1, array.dimensions()));
    }

    @Override
    long sampleByteSize() {
        return array.rowByteSize();
    }

    @Override
    public boolean isOpen() {
        return array.isOpen();
    }

    @Override
    void prepareRows(HostSlot slot, long[] rows) {
        array(slot, 0).resize(slot.size);
    }

    @Override
    public void fill(HostSlot slot, int first, int count, @Nullable Object scratch) {
        int offset = (int) (first * array.rowByteSize());
        array.copyRows(rows(slot), first, count, array(slot, 0).memory(), offset);
    }
}
