package dev.larder.server.source.arrow;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Kind;
import org.jspecify.annotations.Nullable;

/** Texts, bytes, or lists of numbers: rows of any length, with elements that are stored as in the file. */
final class VariableColumn extends FieldColumn {
    private final Kind kind;
    private final RowBounds bounds;
    private final Nulls elementNulls = Nulls.ofElements();
    private final ElementData elements;

    VariableColumn(String name, @Nullable Nulls above, ArrowField field) {
        super(name, above);
        this.kind = field.kind();
        this.bounds = new RowBounds(field);
        this.elements = kind == Kind.LISTS
                ? new ElementData(name, field.children().get(0), elementNulls)
                : new ElementData(Kind.FIXED, "|u1", 1);
    }

    @Override
    void takeRows(BatchCursor batch, long from, long to) {
        bounds.take(batch, from, to);
        if (kind == Kind.LISTS) {
            elementNulls.take(batch, bounds.first(), bounds.last());
        }
        elements.take(batch, bounds.first(), bounds.last());
    }

    @Override
    void addArrays(FoundArrays arrays) {
        addParts(arrays);
        nulls.addMask(name, arrays);
        elementNulls.addElementMask(name, arrays, elements.count());
        elements.addScale(name, arrays);
    }

    /** Adds the column without its mask. */
    void addParts(FoundArrays arrays) {
        switch (kind) {
            case TEXTS -> addParts(arrays, ColumnPart.STRINGS_BYTES, ColumnPart.STRINGS_OFFSETS);
            case BYTES -> addParts(arrays, ColumnPart.BYTES_VALUES, ColumnPart.BYTES_OFFSETS);
            default -> {
                addParts(arrays, ColumnPart.RAGGED_VALUES, ColumnPart.RAGGED_OFFSETS);
                arrays.add(name, ColumnPart.RAGGED_SHAPES, FoundArrays.NUMBERS, bounds.lengths(), bounds.rows(), 1);
            }
        }
    }

    private void addParts(FoundArrays arrays, ColumnPart values, ColumnPart offsets) {
        arrays.add(name, values, elements.type(), elements.data(), elements.count());
        arrays.addOffsets(name, offsets, bounds);
    }
}
