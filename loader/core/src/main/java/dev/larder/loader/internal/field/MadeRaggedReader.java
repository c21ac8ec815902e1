package dev.larder.loader.internal.field;

import dev.larder.loader.internal.slot.Filler;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.npy.Dtype;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Makes rows whose lengths only the user's function knows. Each is made where there is room for the longest that it may
 * be; who makes the last one moves them together.
 */
final class MadeRaggedReader extends FieldReader {
    private static final Dtype MASK = Dtype.parse("|b1");
    private static final Dtype OFFSETS = Dtype.parse("<i8");

    private final MadeRows rows;
    private final FieldSpec.@Nullable Padding padding;
    private final byte[] filler;
    private final int itemBytes;
    private final int stride;

    /** Packs rows, or pads them. */
    MadeRaggedReader(
            MadeRows rows, String name, FieldSpec.@Nullable Padding padding, @Nullable RowLookup lookup, Place place) {
        super(rows.source().column(), outputs(rows, name, padding != null), lookup, place);
        this.rows = rows;
        this.padding = padding;
        this.filler = Filler.of(rows.made().dtype(), padding == null ? 0 : padding.fillValue());
        this.itemBytes = Math.toIntExact(rows.made().rowByteSize() / rows.most());
        this.stride = padding == null ? rows.most() : Math.toIntExact(rounded(rows.most(), padding.multiple()));
    }

    private static List<OutputArray> outputs(MadeRows rows, String name, boolean padded) {
        long[] shape = rows.made().rowShape();
        Dtype dtype = rows.made().dtype();
        if (padded) {
            shape[0] = 0;
            return List.of(new OutputArray(name, dtype, shape), new OutputArray(name + ".mask", MASK, 0));
        }
        return List.of(
                new OutputArray(name, dtype, Arrays.copyOfRange(shape, 1, shape.length)),
                new OutputArray(name + ".offsets", OFFSETS));
    }

    private static long rounded(long length, long multiple) {
        return (length + multiple - 1) / multiple * multiple;
    }

    @Override
    public boolean hasEqualRows() {
        return false;
    }

    @Override
    public boolean isTransforming() {
        return true;
    }

    @Override
    public boolean runsUserCode() {
        return true;
    }

    @Override
    long sampleByteSize() {
        return rows.source().meanByteSize();
    }

    @Override
    public boolean isOpen() {
        return rows.source().isOpen();
    }

    @Override
    void prepareRows(HostSlot slot, long[] wanted) {
        int[] lengths = slot.lengths(field());
        Arrays.fill(lengths, 0, slot.size, 0);
        shape(slot, stride, (long) slot.size * stride);
        slot.left(field()).set(slot.size);
        if (slot.size == 0) {
            moveTogether(slot);
        }
    }

    /** Sets how long padded rows are, and how many items there are where they are packed. */
    private void shape(HostSlot slot, long length, long items) {
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
        MadeRows.Room room = Objects.requireNonNull((MadeRows.Room) scratch);
        SlotArray target = array(slot, 0);
        int[] lengths = slot.lengths(field());
        long[] wanted = rows(slot);
        for (int i = first; i < first + count; i++) {
            lengths[i] = rows.make(slot, i, wanted[i], target, i * stride, room);
        }
        if (slot.left(field()).addAndGet(-count) == 0) {
            moveTogether(slot);
        }
    }

    private void moveTogether(HostSlot slot) {
        int[] lengths = slot.lengths(field());
        if (padding == null) {
            pack(slot, lengths);
        } else {
            pad(slot, lengths, padding);
        }
    }

    private void pack(HostSlot slot, int[] lengths) {
        UnsafeBuffer values = array(slot, 0).memory();
        UnsafeBuffer offsets = array(slot, 1).memory();
        int end = 0;
        offsets.putLong(0, 0, OFFSETS.byteOrder());
        for (int i = 0; i < slot.size; i++) {
            move(values, i * stride, end, lengths[i]);
            end += lengths[i];
            offsets.putLong((i + 1) * Long.BYTES, end, OFFSETS.byteOrder());
        }
        shape(slot, 0, end);
    }

    private void pad(HostSlot slot, int[] lengths, FieldSpec.Padding how) {
        UnsafeBuffer values = array(slot, 0).memory();
        UnsafeBuffer mask = array(slot, 1).memory();
        int longest = 0;
        for (int i = 0; i < slot.size; i++) {
            longest = Math.max(longest, lengths[i]);
        }
        int length = (int) rounded(longest, how.multiple());
        for (int i = 0; i < slot.size; i++) {
            int own = lengths[i];
            int start = i * length + (how.left() ? length - own : 0);
            int rest = i * length + (how.left() ? 0 : own);
            move(values, i * stride, start, own);
            Filler.fill(filler, values, rest * itemBytes, (length - own) * itemBytes);
            mask.setMemory(start, own, (byte) 1);
            mask.setMemory(rest, length - own, (byte) 0);
        }
        shape(slot, length, 0);
    }

    /** Moves a row towards the begin, over what was moved already. */
    private void move(UnsafeBuffer values, int from, int to, int items) {
        if (from != to && items > 0) {
            values.putBytes(to * itemBytes, values, from * itemBytes, items * itemBytes);
        }
    }

    @Override
    public Object newScratch() {
        return rows.newRoom();
    }
}
