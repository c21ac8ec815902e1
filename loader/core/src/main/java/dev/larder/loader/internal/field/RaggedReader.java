package dev.larder.loader.internal.field;

import dev.larder.loader.internal.slot.OutputArray;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads rows of different lengths. */
abstract class RaggedReader extends FieldReader {
    final RaggedRows rows;

    RaggedReader(RaggedRows rows, List<OutputArray> outputs, @Nullable RowLookup lookup, Place place) {
        super(rows.column(), outputs, lookup, place);
        this.rows = rows;
    }

    @Override
    public final boolean hasEqualRows() {
        return false;
    }

    @Override
    final long sampleByteSize() {
        return rows.meanByteSize();
    }

    @Override
    public final boolean isOpen() {
        return rows.isOpen();
    }

    @Override
    final void checkRow(long row) {
        rows.length(row);
    }

    @Override
    public final boolean isTransforming() {
        return rows.isTransforming();
    }

    @Override
    public final @Nullable Object newScratch() {
        return rows.newScratch();
    }
}
