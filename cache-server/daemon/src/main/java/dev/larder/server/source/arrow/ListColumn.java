package dev.larder.server.source.arrow;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.reader.arrow.ArrowField;

/** Lists of numbers, of any length each: a ragged column of one dimension. */
final class ListColumn extends ArrowColumn {
    private final String name;
    private final Nulls nulls;
    private final int width;
    private final RowBounds bounds = new RowBounds();
    private final Elements elements;

    ListColumn(String name, Nulls nulls, ArrowField field) {
        this.name = name;
        this.nulls = nulls;
        this.width = field.size();
        this.elements = new Elements(field.children().get(0));
    }

    @Override
    void take(BatchCursor batch, long from, long to) {
        nulls.take(batch, from, to);
        bounds.take(batch, width, from, to);
        Nulls.requireNone(batch, bounds.last(), name);
        elements.take(batch, bounds.first(), bounds.last());
    }

    @Override
    void addArrays(FoundArrays arrays) {
        arrays.add(name, ColumnPart.RAGGED_VALUES, elements.dtype(), elements.data(), elements.count());
        arrays.addOffsets(name, ColumnPart.RAGGED_OFFSETS, bounds);
        arrays.addNumbers(name, ColumnPart.RAGGED_SHAPES, bounds.lengths(), bounds.rows(), 1);
        nulls.addMask(name, arrays);
    }
}
