package dev.larder.server.source.arrow;

import dev.larder.reader.arrow.ArrowField;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Rows of one shape, as one array. */
final class FlatColumn extends FieldColumn {
    private final List<ArrowField> lists;
    private final long[] rowShape;
    private final Nulls elementNulls;
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
        long each = lists.stream().mapToLong(ArrowField::size).reduce(1, Math::multiplyExact);
        this.elementNulls = lists.isEmpty() ? nulls : Nulls.ofElements(nulls, each);
        this.elements = new ElementData(name, inner, elementNulls);
    }

    @Override
    void takeRows(BatchCursor batch, long from, long to) {
        long each = 1;
        for (int i = 0; i < lists.size(); i++) {
            each = Math.multiplyExact(each, lists.get(i).size());
            if (i < lists.size() - 1) {
                nulls.requireNoneElsewhere(batch, from, to, each, name);
            } else {
                elementNulls.take(batch, Math.multiplyExact(from, each), Math.multiplyExact(to, each));
            }
        }
        elements.take(batch, Math.multiplyExact(from, each), Math.multiplyExact(to, each));
    }

    @Override
    void addArrays(FoundArrays arrays) {
        long[] shape = arrays.addRows(name, elements, nulls.rows(), rowShape);
        nulls.addMask(name, arrays);
        if (!lists.isEmpty()) {
            elementNulls.addElementMask(name, arrays, shape);
        }
        elements.addScale(name, arrays);
    }
}
