package dev.larder.loader.internal.field;

import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.SlotArray;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Makes rows of one shape of the bytes of rows of any length. */
final class MadeReader extends FieldReader {
    private final MadeRows rows;

    MadeReader(MadeRows rows, @Nullable RowLookup lookup, Place place) {
        super(rows.source().column(), rows.outputs(), lookup, place);
        this.rows = rows;
    }

    @Override
    public boolean isTransforming() {
        return true;
    }

    @Override
    public boolean runsUserCode() {
        return rows.runsUserCode();
    }

    @Override
    public @Nullable String decoder() {
        return rows.decoder();
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
        array(slot, 0).resize(slot.size);
    }

    @Override
    public void fill(HostSlot slot, int first, int count, @Nullable Object scratch) {
        MadeRows.Room room = Objects.requireNonNull((MadeRows.Room) scratch);
        SlotArray target = array(slot, 0);
        long[] wanted = rows(slot);
        for (int i = first; i < first + count; i++) {
            var unused = rows.make(slot, i, wanted[i], target, i, room);
        }
    }

    @Override
    public Object newScratch() {
        return rows.newRoom();
    }
}
