package dev.larder.server.source.arrow;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.Partitioning;

/** Lists of what is no number: a column of all items, and an array that says where the items of each row begin. */
final class ItemsColumn extends ArrowColumn {
    /** What is appended to the name of the column for its items. */
    static final String ITEMS = ".items";

    private static final String OFFSETS = ".offsets";

    private final String name;
    private final Nulls nulls;
    private final boolean isFixed;
    private final int size;
    private final RowBounds bounds = new RowBounds();
    private final Pieces equalRows = new Pieces(1);
    private final ArrowColumn items;

    ItemsColumn(String name, Nulls nulls, ArrowField field, ArrowColumn items) {
        this.name = name;
        this.nulls = nulls;
        this.isFixed = field.kind() == ArrowField.Kind.FIXED_LISTS;
        this.size = field.size();
        this.items = items;
    }

    @Override
    void enter(ArrowField field) {
        items.enter(field.children().get(0));
    }

    @Override
    void take(BatchCursor batch, long from, long to) {
        nulls.take(batch, from, to);
        if (isFixed) {
            equalRows.add(batch.file().identity(), to - from, equalRows.rows());
            items.take(batch, Math.multiplyExact(from, size), Math.multiplyExact(to, size));
        } else {
            bounds.take(batch, size, from, to);
            items.take(batch, bounds.first(), bounds.last());
        }
    }

    @Override
    void addArrays(FoundArrays arrays) {
        arrays.addingAs(Partitioning.IMPOSSIBLE, () -> addParts(arrays));
    }

    private void addParts(FoundArrays arrays) {
        if (isFixed) {
            ArrayData offsets = new ConvertedData.OfEqualRows(equalRows, size);
            arrays.addNumbers(name + OFFSETS, ColumnPart.NONE, offsets, Math.addExact(equalRows.rows(), 1));
        } else {
            arrays.addOffsets(name + OFFSETS, ColumnPart.NONE, bounds);
        }
        nulls.addMask(name, arrays);
        items.addArrays(arrays);
    }

    @Override
    public void close() {
        items.close();
    }
}
