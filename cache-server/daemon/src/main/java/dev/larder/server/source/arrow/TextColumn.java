package dev.larder.server.source.arrow;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.server.source.ExtentTable;
import dev.larder.server.source.Extents;

/** Texts or bytes: a column of ours, whose bytes are copied from where they lie. */
final class TextColumn extends ArrowColumn {
    private final String name;
    private final Nulls nulls;
    private final boolean isText;
    private final int width;
    private final RowBounds bounds = new RowBounds();
    private final ExtentTable regions = new ExtentTable();

    TextColumn(String name, Nulls nulls, ArrowField field) {
        this.name = name;
        this.nulls = nulls;
        this.isText = field.kind() == ArrowField.Kind.TEXTS;
        this.width = field.size();
    }

    @Override
    void take(BatchCursor batch, long from, long to) {
        nulls.take(batch, from, to);
        bounds.take(batch, width, from, to);
        batch.nextBuffer(bounds.last());
        regions.add(batch.file().identity(), batch.bufferOffset() + bounds.first(), bounds.last() - bounds.first());
    }

    Nulls nulls() {
        return nulls;
    }

    @Override
    void addArrays(FoundArrays arrays) {
        addParts(arrays);
        nulls.addMask(name, arrays);
    }

    /** Adds the column without its mask. */
    void addParts(FoundArrays arrays) {
        ColumnPart bytes = isText ? ColumnPart.STRINGS_BYTES : ColumnPart.BYTES_VALUES;
        arrays.addBytes(name, bytes, Extents.of(regions), bounds.elements());
        arrays.addOffsets(name, isText ? ColumnPart.STRINGS_OFFSETS : ColumnPart.BYTES_OFFSETS, bounds);
    }
}
