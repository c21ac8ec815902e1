package dev.larder.server.source.arrow;

import dev.larder.reader.arrow.ArrowField;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Rows of one shape, as one array. */
final class FlatColumn extends FieldColumn {
    private final List<ArrowField> lists;
    private final long[] rowShape;
    private final ElementData elements;

    /**
     * Starts without rows.
     *
     * @param lists the nested lists of fixed sizes, outermost first
     * @param rowShape the dimensions of a row
     * @param inner the field of the elements
     */
    FlatColumn(String name, @Nullable Nulls above, List<ArrowField> lists, long[] rowShape, ArrowField inner) {
        super(name, above);
        this.lists = lists;
        this.rowShape = rowShape;
        this.elements = new ElementData(inner);
    }

    @Override
    void takeRows(BatchCursor batch, long from, long to) {
        long each = 1;
        for (ArrowField list : lists) {
            each = Math.multiplyExact(each, list.size());
            nulls.requireNoneElsewhere(batch, from, to, each, name);
        }
        elements.take(batch, Math.multiplyExact(from, each), Math.multiplyExact(to, each));
    }

    @Override
    void addArrays(FoundArrays arrays) {
        arrays.addRows(name, elements, nulls.rows(), rowShape);
        nulls.addMask(name, arrays);
    }
}
