package dev.larder.loader.internal.field;

import dev.larder.loader.internal.field.FieldSpec.Padding;
import dev.larder.loader.internal.slot.Filler;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.npy.Dtype;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Packs rows of different lengths and writes their offsets, or pads them and writes a mask.
 *
 * <p>If only the user's function determines the length of a row, each row gets room for the longest possible one. The
 * thread that makes the last row of the batch moves all rows together.
 */
public final class RaggedReader extends FieldReader {
    private static final Dtype MASK = Dtype.parse("|b1");
    private static final Dtype OFFSETS = Dtype.parse("<i8");

    private final @Nullable Padding padding;
    private final byte[] filler;
    private final int itemBytes;

    /** Items from one row to the next until the rows are moved together; 0 if lengths are known in advance. */
    private final int stride;

    RaggedReader(List<SampleRows> parts, FieldSpec field, Place place) {
        super(parts.get(0).column(), parts, outputs(parts.get(0), field), place);
        SampleRows rows = parts.get(0);
        this.padding = field.padding();
        this.filler = Filler.of(rows.dtype(), padding == null ? 0 : padding.fillValue());
        this.itemBytes = Math.toIntExact(rows.output(field.name()).rowByteSize());
        this.stride = Math.toIntExact(rounded(rows.mostItems()));
    }

    private static List<OutputArray> outputs(SampleRows rows, FieldSpec field) {
        String name = field.name();
        if (field.padding() == null) {
            return List.of(rows.output(name), new OutputArray(name + ".offsets", OFFSETS));
        }
        long[] shape =
                LongStream.concat(LongStream.of(0), LongStream.of(rows.shape())).toArray();
        return List.of(new OutputArray(name, rows.dtype(), shape), new OutputArray(name + ".mask", MASK, 0));
    }

    private long rounded(long length) {
        long multiple = padding == null ? 1 : padding.multiple();
        return (length + multiple - 1) / multiple * multiple;
    }

    /** Returns whether rows are packed. If so, the lengths of arrays differ from the number of samples. */
    public boolean isPacked() {
        return padding == null;
    }

    @Override
    public boolean hasEqualRows() {
        return false;
    }

    @Override
    void prepareRows(HostSlot slot, long[] rows) {
        int[] lengths = slot.lengths(field());
        if (stride > 0) {
            Arrays.fill(lengths, 0, slot.size, 0);
            resize(slot, stride, (long) slot.size * stride);
            slot.left(field()).set(slot.size);
        }
        if (stride == 0 || slot.size == 0) {
            arrange(slot, lengths, rows);
        }
    }

    /**
     * Sets the lengths of the arrays and writes the offsets of packed rows.
     *
     * @param rows the row of each sample; null if {@code lengths} has the lengths of the rows already
     */
    private void arrange(HostSlot slot, int[] lengths, long @Nullable [] rows) {
        UnsafeBuffer offsets = padding == null ? offsets(slot) : null;
        int longest = 0;
        long items = 0;
        for (int i = 0; i < slot.size; i++) {
            int length = rows == null ? lengths[i] : length(slot, i, rows[i]);
            lengths[i] = length;
            longest = Math.max(longest, length);
            items += length;
            if (offsets != null) {
                offsets.putLong((i + 1) * Long.BYTES, items, OFFSETS.byteOrder());
            }
        }
        resize(slot, rounded(longest), items);
    }

    private UnsafeBuffer offsets(HostSlot slot) {
        SlotArray offsets = array(slot, 1);
        offsets.resize(slot.size + 1L);
        offsets.memory().putLong(0, 0, OFFSETS.byteOrder());
        return offsets.memory();
    }

    private int length(HostSlot slot, int sample, long row) {
        long length = part(slot, sample).length(row);
        if (length > Integer.MAX_VALUE) {
            resize(slot, length, length); // refuses the row, and names the array and its bytes
        }
        return Math.toIntExact(length);
    }

    /** Makes room for padded rows of the given length, or for packed rows with that total number of items. */
    private void resize(HostSlot slot, long length, long items) {
        SlotArray values = array(slot, 0);
        SlotArray others = array(slot, 1);
        if (padding == null) {
            values.resize(items);
            others.resize(slot.size + 1L);
        } else {
            values.shape[1] = length;
            values.resize(slot.size);
            others.shape[1] = length;
            others.resize(slot.size);
        }
    }

    @Override
    public void fill(HostSlot slot, int first, int count, @Nullable Object scratch) {
        SlotArray values = array(slot, 0);
        int[] lengths = slot.lengths(field());
        for (int i = first; i < first + count; i++) {
            if (stride == 0) {
                var unused = write(slot, i, 1, values, begin(slot, i, lengths[i]), scratch);
                pad(slot, i, lengths[i]);
            } else {
                lengths[i] = write(slot, i, 1, values, i * stride, scratch);
            }
        }
        if (stride > 0 && slot.left(field()).addAndGet(-count) == 0) {
            moveTogether(slot, lengths);
        }
    }

    /** Returns the start of a sample's row in the first array, in items. */
    private int begin(HostSlot slot, int sample, int length) {
        if (padding == null) {
            return (int) array(slot, 1).memory().getLong(sample * Long.BYTES, OFFSETS.byteOrder());
        }
        int padded = (int) array(slot, 0).shape[1];
        return sample * padded + (padding.left() ? padded - length : 0);
    }

    private void moveTogether(HostSlot slot, int[] lengths) {
        arrange(slot, lengths, null);
        UnsafeBuffer values = array(slot, 0).memory();
        for (int i = 0; i < slot.size; i++) { // in this order no row is overwritten before it is moved
            int from = i * stride;
            int to = begin(slot, i, lengths[i]);
            if (from != to && lengths[i] > 0) {
                values.putBytes(to * itemBytes, values, from * itemBytes, lengths[i] * itemBytes);
            }
            pad(slot, i, lengths[i]);
        }
    }

    /** Pads a row and writes its mask. */
    private void pad(HostSlot slot, int sample, int length) {
        if (padding == null) {
            return;
        }
        SlotArray values = array(slot, 0);
        UnsafeBuffer mask = array(slot, 1).memory();
        int padded = (int) values.shape[1];
        int rest = sample * padded + (padding.left() ? 0 : length);
        Filler.fill(filler, values.memory(), rest * itemBytes, (padded - length) * itemBytes);
        mask.setMemory(begin(slot, sample, length), length, (byte) 1);
        mask.setMemory(rest, padded - length, (byte) 0);
    }
}
