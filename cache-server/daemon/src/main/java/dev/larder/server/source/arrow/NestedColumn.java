package dev.larder.server.source.arrow;

import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.RowShapes;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Kind;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lists of lists of numbers. If a shape is declared, all rows must have it, and are one array; else they are a ragged column of boxes.
 * The scan reads the offsets of all lists to check the shapes.
 */
final class NestedColumn extends FieldColumn {
    private final List<ArrowField> levels;
    private final Nulls elementNulls = Nulls.ofElements();
    private final ElementData elements;
    private final long @Nullable [] declared;
    private final RowShapes shapes;
    private final @Nullable BatchBuffer[] offsets;
    private final long[] begins;
    private final long[] ends;
    private final long[] shape;
    private boolean isHandedOver;

    /**
     * Starts without rows.
     *
     * @param levels the fields of the lists, outermost first
     * @param inner the field of the numbers
     * @param declared the shape of every row, or null if each has its own
     */
    NestedColumn(
            String name,
            @Nullable Nulls above,
            List<ArrowField> levels,
            ArrowField inner,
            long @Nullable [] declared,
            ColumnMemory memory) {
        super(name, above);
        this.levels = levels;
        this.elements = new ElementData(name, inner, elementNulls);
        this.declared = declared;
        this.shapes = new RowShapes(levels.size(), memory);
        this.offsets = new BatchBuffer[levels.size()];
        this.begins = new long[levels.size() + 1];
        this.ends = new long[levels.size() + 1];
        this.shape = new long[levels.size()];
    }

    @Override
    void takeRows(BatchCursor batch, long from, long to) {
        begins[0] = from;
        ends[0] = to;
        for (int level = 0; level < levels.size(); level++) {
            ArrowField lists = levels.get(level);
            offsets[level] = lists.kind() == Kind.FIXED_LISTS ? null : batch.offsets(lists.size());
            boolean isEmpty = begins[level] == ends[level];
            begins[level + 1] = isEmpty ? 0 : begin(level, begins[level]);
            ends[level + 1] = isEmpty ? 0 : begin(level, ends[level]);
            requireOrder(batch, begins[level + 1] >= 0 && ends[level + 1] >= begins[level + 1]);
            if (level < levels.size() - 1) {
                Nulls.requireNone(batch, ends[level + 1], name);
            } else {
                elementNulls.take(batch, begins[level + 1], ends[level + 1]);
            }
        }
        elements.take(batch, begins[levels.size()], ends[levels.size()]);
        for (long row = from; row < to; row++) {
            measure(batch, row);
            add(row);
        }
    }

    /** Returns the first element of a list. */
    private long begin(int level, long list) {
        BatchBuffer its = offsets[level];
        int size = levels.get(level).size();
        return its == null ? Math.multiplyExact(list, size) : its.number(list, size);
    }

    private static void requireOrder(BatchCursor batch, boolean isInOrder) {
        if (!isInOrder) {
            throw batch.refusal("offsets of its rows are out of order");
        }
    }

    /** Finds the shape of a row. */
    private void measure(BatchCursor batch, long row) {
        long begin = row;
        long count = 1;
        for (int level = 0; level < levels.size(); level++) {
            BatchBuffer its = offsets[level];
            shape[level] = its == null ? levels.get(level).size() : 0;
            if (its == null) {
                begin = begin(level, begin);
            } else if (count > 0) {
                begin = measureLists(batch, level, its, begin, count, row);
            }
            count = Math.multiplyExact(count, shape[level]);
            requireOrder(batch, count == 0 || (begin >= begins[level + 1] && count <= ends[level + 1] - begin));
        }
    }

    /** Finds the length of lists, which all must have the same; returns their first element. */
    private long measureLists(BatchCursor batch, int level, BatchBuffer its, long first, long count, long row) {
        int width = levels.get(level).size();
        long begin = its.number(first, width);
        long at = begin;
        for (long list = first; list < first + count; list++) {
            long end = its.number(list + 1, width);
            requireOrder(batch, end >= at);
            if (list == first) {
                shape[level] = end - at;
            } else if (end - at != shape[level]) {
                throw new Unfit(name, "row " + row + " of a batch has lists of different lengths within each other");
            }
            at = end;
        }
        return begin;
    }

    private void add(long row) {
        if (declared == null) {
            shapes.add(shape);
        } else if (!Arrays.equals(shape, declared)) {
            throw new Unfit(
                    name,
                    "row " + row + " of a batch "
                            + (nulls.isNull(row) ? "is null" : "has the shape " + Arrays.toString(shape))
                            + ", but its column has rows of the shape " + Arrays.toString(declared));
        }
    }

    @Override
    void addArrays(FoundArrays arrays) {
        elements.addScale(name, arrays);
        if (declared != null) {
            elementNulls.addElementMask(name, arrays, arrays.addRows(name, elements, nulls.rows(), declared));
            return;
        }
        arrays.add(name, ColumnPart.RAGGED_VALUES, elements.type(), elements.data(), elements.count());
        isHandedOver = true;
        arrays.add(name, shapes);
        nulls.addMask(name, arrays);
        elementNulls.addElementMask(name, arrays, elements.count());
    }

    @Override
    public void close() {
        if (!isHandedOver) {
            shapes.close();
        }
    }
}
