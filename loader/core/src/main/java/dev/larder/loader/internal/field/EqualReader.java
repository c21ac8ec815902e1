package dev.larder.loader.internal.field;

import dev.larder.loader.internal.slot.HostSlot;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes rows of equal length back to back. */
final class EqualReader extends FieldReader {
    EqualReader(List<SampleRows> parts, String name, Place place) {
        super(parts.get(0).column(), parts, List.of(parts.get(0).output(name)), place);
    }

    @Override
    void prepareRows(HostSlot slot, long[] rows) {
        array(slot, 0).resize(slot.size);
    }

    @Override
    public void fill(HostSlot slot, int first, int count, @Nullable Object scratch) {
        var unused = write(slot, first, count, array(slot, 0), first, scratch);
    }
}
