package dev.larder.loader.internal.field;

import dev.larder.loader.internal.slot.Filler;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.npy.Dtype;
import java.util.List;
import java.util.stream.LongStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** Makes rows of different lengths equally long, and says what of them is padding. */
final class PaddedReader extends RaggedReader {
    private static final Dtype MASK = Dtype.parse("|b1");

    private final boolean left;
    private final long multiple;
    private final byte[] filler;

    PaddedReader(RaggedRows rows, FieldSpec field, @Nullable RowLookup lookup, Place place) {
        super(rows, outputs(rows, field.name()), lookup, place);
        this.left = field.padding().left();
        this.multiple = field.padding().multiple();
        this.filler = Filler.of(rows.dtype(), field.padding().fillValue());
    }

    private static List<OutputArray> outputs(RaggedRows rows, String name) {
        long[] shape = LongStream.concat(LongStream.of(0), LongStream.of(rows.rowShape()))
                .toArray();
        return List.of(new OutputArray(name, rows.dtype(), shape), new OutputArray(name + ".mask", MASK, 0));
    }

    @Override
    void prepareRows(HostSlot slot, long[] wanted) {
        long longest = 0;
        for (int i = 0; i < slot.size; i++) {
            longest = Math.max(longest, rows.length(wanted[i]));
        }
        long length = (longest + multiple - 1) / multiple * multiple;
        for (int place = 0; place < 2; place++) {
            array(slot, place).shape[1] = length;
            array(slot, place).resize(slot.size);
        }
    }

    @Override
    public void fill(HostSlot slot, int first, int count, @Nullable Object scratch) {
        SlotArray values = array(slot, 0);
        UnsafeBuffer mask = array(slot, 1).memory();
        int length = (int) values.shape[1];
        int item = rows.itemByteSize();
        long[] wanted = rows(slot);
        for (int i = first; i < first + count; i++) {
            int own = (int) rows.length(wanted[i]);
            int start = i * length + (left ? length - own : 0);
            int padding = i * length + (left ? 0 : own);
            rows.copy(wanted[i], values, start, scratch);
            Filler.fill(filler, values.memory(), padding * item, (length - own) * item);
            mask.setMemory(start, own, (byte) 1);
            mask.setMemory(padding, length - own, (byte) 0);
        }
    }
}
