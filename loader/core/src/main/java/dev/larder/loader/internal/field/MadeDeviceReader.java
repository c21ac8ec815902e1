package dev.larder.loader.internal.field;

import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.loader.internal.transform.SampleKernel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Makes rows on the host, and leaves the steps after that to a kernel: images are uploaded as bytes. */
final class MadeDeviceReader extends DeviceReader {
    private final MadeRows rows;

    MadeDeviceReader(
            MadeRows rows, String name, SampleKernel kernel, long seed, @Nullable RowLookup lookup, Place place) {
        super(null, staged(rows), name, kernel, seed, lookup, place);
        this.rows = rows;
    }

    private static OutputArray staged(MadeRows rows) {
        OutputArray made = rows.made();
        return new OutputArray(rows.source().column(), made.dtype(), made.rowShape());
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
    long rowCount() {
        return rows.source().rows();
    }

    @Override
    void stage(HostSlot slot, long[] wanted, int first, int count, @Nullable Object room) {
        SlotArray target = array(slot, 0);
        MadeRows.Room own = Objects.requireNonNull((MadeRows.Room) room);
        for (int i = first; i < first + count; i++) {
            var unused = rows.make(slot, i, wanted[i], target, i, own);
        }
    }

    @Override
    Object newStagingRoom() {
        return rows.newRoom();
    }
}
