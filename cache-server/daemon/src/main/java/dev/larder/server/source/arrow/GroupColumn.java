package dev.larder.server.source.arrow;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.server.source.Partitioning;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Fields that are columns of their own: those of a struct, or the items of lists that are not plain numbers. Lists have one more array,
 * with the first item of each row.
 */
final class GroupColumn extends FieldColumn {
    /** The suffix of the column of all items. */
    static final String ITEMS = ".items";

    private static final String OFFSETS = ".offsets";

    private final @Nullable RowBounds bounds;

    /** The columns of the children by their index, none for a child to skip. */
    private final SortedMap<Integer, FieldColumn> parts = new TreeMap<>();

    private ArrowField field;

    /** Starts without rows and parts. */
    GroupColumn(String name, @Nullable Nulls above, ArrowField field) {
        super(name, above);
        this.bounds = field.kind() == ArrowField.Kind.STRUCTS ? null : new RowBounds(field);
        this.field = field;
    }

    /** Adds the column of a child, and owns it. */
    void add(int child, FieldColumn part) {
        parts.put(child, part);
    }

    @Override
    void enter(ArrowField its) {
        field = its;
        parts.forEach((child, part) -> part.enter(its.children().get(child)));
    }

    @Override
    void takeRows(BatchCursor batch, long from, long to) {
        long first = from;
        long last = to;
        if (bounds != null) {
            bounds.take(batch, from, to);
            first = bounds.first();
            last = bounds.last();
        }
        for (int i = 0; i < field.children().size(); i++) {
            FieldColumn part = parts.get(i);
            if (part == null) {
                batch.skip(field.children().get(i));
            } else {
                part.take(batch, first, last);
            }
        }
    }

    @Override
    void addArrays(FoundArrays arrays) {
        RowBounds offsets = bounds;
        if (offsets == null) {
            parts.values().forEach(part -> part.addArrays(arrays));
            return;
        }
        arrays.addingAs(Partitioning.IMPOSSIBLE, () -> {
            arrays.addOffsets(name + OFFSETS, ColumnPart.NONE, offsets);
            nulls.addMask(name, arrays);
            parts.values().forEach(part -> part.addArrays(arrays));
        });
    }

    @Override
    public void close() {
        parts.values().forEach(FieldColumn::close);
    }
}
