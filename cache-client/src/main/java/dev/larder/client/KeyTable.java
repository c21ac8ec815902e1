package dev.larder.client;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.KeyTableDescriptor;
import dev.larder.internal.posix.RawMemory;

/** The hash table of an index column. Callers check that it is open after they have read. */
final class KeyTable {
    private final Dataset dataset;
    private final String column;
    private final ArrayView view;
    private final long base;
    private final long mask;
    private final int shift;

    KeyTable(Dataset dataset, String column) {
        this.dataset = dataset;
        this.column = column;
        this.view = part(ColumnPart.INDEX_SLOTS, "<u8", 1);
        long capacity = view.rows();
        Columns.require(KeyTableDescriptor.isCapacity(capacity), dataset, column, capacity + " slots");
        this.base = view.base();
        this.mask = capacity - 1;
        this.shift = KeyTableDescriptor.shift(capacity);
    }

    /** Returns another array of the column. Fails if its dtype or its number of dimensions differs from the format. */
    ArrayView part(ColumnPart part, String dtype, int dimensions) {
        ArrayView array = Columns.part(dataset, column, part);
        Columns.require(dataset, column, array, dtype, dimensions);
        return array;
    }

    long mask() {
        return mask;
    }

    long first(long hash) {
        return KeyTableDescriptor.firstSlot(hash, shift);
    }

    /** Returns the contents of a slot. {@code slot} must be within the mask. */
    long at(long slot) {
        return RawMemory.getLong(base + (slot << KeyTableDescriptor.SLOT_SHIFT));
    }

    void requireOpen() {
        view.requireOpen();
    }

    boolean isOpen() {
        return view.isOpen();
    }

    LarderException damaged(String problem) {
        return Columns.damaged(dataset, column, problem);
    }
}
