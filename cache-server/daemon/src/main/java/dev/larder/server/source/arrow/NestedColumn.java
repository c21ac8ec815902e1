package dev.larder.server.source.arrow;

import dev.larder.error.LarderException;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.RowShapes;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.reader.arrow.ArrowField;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lists of lists of numbers. Where a shape is declared all rows must have it, and are one array; else they are a ragged column, whose
 * rows are boxes. Reads the bounds of all lists to find out.
 */
final class NestedColumn extends ArrowColumn {
    private final String name;
    private final Nulls nulls;
    private final List<ArrowField> levels;
    private final Elements elements;
    private final long @Nullable [] declared;
    private final RowShapes shapes;
    private final FileWindow[] offsets;
    private final long[] begins;
    private final long[] ends;
    private final long[] shape;
    private boolean isHandedOver;

    /**
     * Starts without rows.
     *
     * @param levels the fields of the lists, from the outer one on
     * @param declared the shape of every row; null where each has its own
     */
    NestedColumn(
            String name,
            Nulls nulls,
            List<ArrowField> levels,
            Elements elements,
            long @Nullable [] declared,
            ColumnMemory memory) {
        this.name = name;
        this.nulls = nulls;
        this.levels = List.copyOf(levels);
        this.elements = elements;
        this.declared = declared;
        this.shapes = new RowShapes(levels.size(), memory);
        this.offsets = new FileWindow[levels.size()];
        this.begins = new long[levels.size() + 1];
        this.ends = new long[levels.size() + 1];
        this.shape = new long[levels.size()];
    }

    @Override
    void take(BatchCursor batch, long from, long to) {
        nulls.take(batch, from, to);
        begins[0] = from;
        ends[0] = to;
        for (int level = 0; level < levels.size(); level++) {
            enterLevel(batch, level);
            Nulls.requireNone(batch, ends[level + 1], name);
        }
        elements.take(batch, begins[levels.size()], ends[levels.size()]);
        for (long row = from; row < to; row++) {
            measure(batch, row);
        }
    }

    private void enterLevel(BatchCursor batch, int level) {
        int size = levels.get(level).size();
        if (levels.get(level).kind() == ArrowField.Kind.FIXED_LISTS) {
            begins[level + 1] = Math.multiplyExact(begins[level], size);
            ends[level + 1] = Math.multiplyExact(ends[level], size);
            return;
        }
        batch.nextOffsets(size);
        offsets[level] = new FileWindow(batch.file(), batch.bufferOffset(), batch.bufferBytes());
        boolean isEmpty = begins[level] == ends[level];
        begins[level + 1] = isEmpty ? 0 : offsets[level].number(begins[level], size);
        ends[level + 1] = isEmpty ? 0 : offsets[level].number(ends[level], size);
        if (begins[level + 1] < 0 || ends[level + 1] < begins[level + 1]) {
            throw batch.file().refusal("offsets of its rows are out of order");
        }
    }

    /** Finds the shape of a row, whose lists of one level must all have one length. */
    private void measure(BatchCursor batch, long row) {
        long begin = row;
        long count = 1;
        for (int level = 0; level < levels.size(); level++) {
            shape[level] = 0;
            if (levels.get(level).kind() == ArrowField.Kind.FIXED_LISTS) {
                shape[level] = levels.get(level).size();
                begin *= shape[level];
            } else if (count > 0) {
                begin = measureLists(batch, level, begin, count, row);
            }
            count *= shape[level];
            if (count > 0 && (begin < begins[level + 1] || count > ends[level + 1] - begin)) {
                throw batch.file().refusal("offsets of its rows are out of order");
            }
        }
        if (declared == null) {
            shapes.add(shape);
        } else if (!Arrays.equals(shape, declared)) {
            throw refusal(
                    batch,
                    row,
                    (nulls.isNull(row)
                                    ? "is null, and has no"
                                    : "has the shape " + Arrays.toString(shape) + ", not the")
                            + " shape "
                            + Arrays.toString(declared)
                            + " of its column");
        }
    }

    private long measureLists(BatchCursor batch, int level, long first, long count, long row) {
        int width = levels.get(level).size();
        long begin = offsets[level].number(first, width);
        long at = begin;
        for (long list = first; list < first + count; list++) {
            long end = offsets[level].number(list + 1, width);
            if (end < at) {
                throw batch.file().refusal("offsets of its rows are out of order");
            } else if (list == first) {
                shape[level] = end - at;
            } else if (end - at != shape[level]) {
                throw refusal(batch, row, "has lists of different lengths within each other");
            }
            at = end;
        }
        return begin;
    }

    private LarderException refusal(BatchCursor batch, long row, String reason) {
        return batch.file().unfit(name, "row " + row + " of a batch " + reason);
    }

    @Override
    void addArrays(FoundArrays arrays) {
        if (declared != null) {
            long[] whole = new long[declared.length + 1];
            whole[0] = nulls.rows();
            System.arraycopy(declared, 0, whole, 1, declared.length);
            arrays.add(name, elements.dtype(), elements.data(), whole);
            return;
        }
        arrays.add(name, ColumnPart.RAGGED_VALUES, elements.dtype(), elements.data(), elements.count());
        isHandedOver = true;
        arrays.add(name, shapes);
        nulls.addMask(name, arrays);
    }

    @Override
    public void close() {
        if (!isHandedOver) {
            shapes.close();
        }
    }
}
