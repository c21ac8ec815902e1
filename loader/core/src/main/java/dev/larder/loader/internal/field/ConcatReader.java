package dev.larder.loader.internal.field;

import dev.larder.loader.internal.slot.HostSlot;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads rows of equal length from several datasets, by a reader for each. */
final class ConcatReader extends FieldReader {
    private final FieldReader[] parts;
    private final ConcatLookup places;

    /** Takes readers whose rows are looked up by what is given: they find their rows where that puts them. */
    ConcatReader(List<FieldReader> parts, ConcatLookup places, Place place) {
        super(parts.get(0).column(), parts.get(0).outputs(), places, place);
        this.parts = parts.toArray(FieldReader[]::new);
        this.places = places;
    }

    @Override
    long sampleByteSize() {
        return parts[0].sampleByteSize();
    }

    @Override
    public boolean isOpen() {
        for (FieldReader part : parts) {
            if (!part.isOpen()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean isTransforming() {
        return parts[0].isTransforming();
    }

    @Override
    public boolean runsUserCode() {
        return parts[0].runsUserCode();
    }

    @Override
    public @Nullable String decoder() {
        return parts[0].decoder();
    }

    @Override
    void prepareRows(HostSlot slot, long[] rows) {
        parts[0].prepareRows(slot, rows);
    }

    @Override
    public void fill(HostSlot slot, int first, int count, @Nullable Object scratch) {
        @Nullable Object[] own = Objects.requireNonNull((@Nullable Object[]) scratch);
        int end = first + count;
        for (int i = first; i < end; ) {
            int part = places.part(slot.rows[i]);
            int run = i + 1;
            while (run < end && places.part(slot.rows[run]) == part) {
                run++;
            }
            parts[part].fill(slot, i, run - i, own[part]);
            i = run;
        }
    }

    @Override
    public Object newScratch() {
        @Nullable Object[] scratch = new @Nullable Object[parts.length];
        for (int i = 0; i < parts.length; i++) {
            scratch[i] = parts[i].newScratch();
        }
        return scratch;
    }
}
