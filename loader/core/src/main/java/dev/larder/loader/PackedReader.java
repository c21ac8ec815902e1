package dev.larder.loader;

import dev.larder.client.RaggedColumn;
import dev.larder.npy.Dtype;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Lays rows of different lengths one after the other, and says where each begins and the last ends. */
final class PackedReader extends FieldReader {
    static final Dtype OFFSETS = Dtype.parse("<i8");

    private final RaggedRows rows;

    PackedReader(RaggedRows rows, String name, @Nullable RowLookup lookup, Place place) {
        super(
                rows.column(),
                List.of(
                        new OutputArray(name, rows.dtype(), rows.rowShape()),
                        new OutputArray(name + ".offsets", OFFSETS)),
                lookup,
                place);
        this.rows = rows;
    }

    /** Returns the dimensions after the first that every row of a column must have: those of its first row. */
    static long[] innerShape(RaggedColumn column) {
        return LongStream.range(1, column.rank())
                .map(i -> column.rows() == 0 ? 0 : column.dimension(0, (int) i))
                .toArray();
    }

    @Override
    long sampleByteSize() {
        return rows.meanByteSize();
    }

    @Override
    boolean isOpen() {
        return rows.isOpen();
    }

    @Override
    void layOutRows(Slot slot, long[] wanted) {
        SlotArray offsets = array(slot, 1);
        offsets.resize(slot.size + 1L);
        long end = 0;
        offsets.memory().putLong(0, 0, OFFSETS.byteOrder());
        for (int i = 0; i < slot.size; i++) {
            end += rows.length(wanted[i]);
            offsets.memory().putLong((i + 1) * Long.BYTES, end, OFFSETS.byteOrder());
        }
        array(slot, 0).resize(end);
    }

    @Override
    void checkRow(long row) {
        rows.length(row);
    }

    @Override
    void fill(Slot slot, int first, int count, Workspace workspace) {
        SlotArray values = array(slot, 0);
        SlotArray offsets = array(slot, 1);
        long[] wanted = rows(slot);
        for (int i = first; i < first + count; i++) {
            long begin = offsets.memory().getLong(i * Long.BYTES, OFFSETS.byteOrder());
            rows.copy(wanted[i], values.memory(), (int) (begin * rows.itemByteSize()), workspace.scratch(field()));
        }
    }
}
