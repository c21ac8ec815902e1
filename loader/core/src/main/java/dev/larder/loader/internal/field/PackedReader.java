package dev.larder.loader.internal.field;

import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.npy.Dtype;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Lays rows of different lengths one after the other, and says where each begins and the last ends. */
public final class PackedReader extends RaggedReader {
    private static final Dtype OFFSETS = Dtype.parse("<i8");

    PackedReader(RaggedRows rows, String name, @Nullable RowLookup lookup, Place place) {
        super(
                rows,
                List.of(
                        new OutputArray(name, rows.dtype(), rows.rowShape()),
                        new OutputArray(name + ".offsets", OFFSETS)),
                lookup,
                place);
    }

    @Override
    void prepareRows(HostSlot slot, long[] wanted) {
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
    public void fill(HostSlot slot, int first, int count, @Nullable Object scratch) {
        SlotArray values = array(slot, 0);
        SlotArray offsets = array(slot, 1);
        long[] wanted = rows(slot);
        for (int i = first; i < first + count; i++) {
            long begin = offsets.memory().getLong(i * Long.BYTES, OFFSETS.byteOrder());
            rows.copy(wanted[i], values, (int) begin, scratch);
        }
    }
}
