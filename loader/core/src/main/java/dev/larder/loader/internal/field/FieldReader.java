package dev.larder.loader.internal.field;

import dev.larder.internal.posix.PageSize;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads one field of a batch into a slot: one thread prepares the whole batch, then several threads fill in samples in
 * parallel. Stateless.
 *
 * <p>A reader has three parts. {@link RowLookup} finds the row of a sample. {@link SampleRows}, one for each dataset, reads rows and does
 * the steps of the field. The subclass is the layout: how slots hold the rows.
 */
public abstract class FieldReader {
    private final String column;
    private final SampleRows[] parts;

    /** The files of the parts that may not be in memory. */
    private final DiskRows[] disks;

    /** The memory of a row that was requested: its pages. */
    private final long pageBytes;

    private final List<OutputArray> outputs;
    private final Place place;

    /**
     * The position of a field among the others, and the rows of its samples.
     *
     * @param lookup finds the rows of samples; null if row and sample numbers are equal
     * @param firstSamples the first sample of each dataset, followed by the total number of samples
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Place(int field, int firstArray, @Nullable RowLookup lookup, long[] firstSamples) {}

    FieldReader(String column, List<SampleRows> parts, List<OutputArray> outputs, Place place) {
        this.column = column;
        this.parts = parts.toArray(SampleRows[]::new);
        this.disks = parts.stream()
                .map(part -> part.source().disk())
                .filter(Objects::nonNull)
                .toArray(DiskRows[]::new);
        this.pageBytes = disks.length == 0 ? 0 : parts.get(0).source().meanByteSize() + PageSize.BYTES;
        this.outputs = outputs;
        this.place = place;
    }

    /** Returns the name of the source array or column. */
    public final String column() {
        return column;
    }

    /** Returns the batch arrays that this field fills. */
    public final List<OutputArray> outputs() {
        return outputs;
    }

    /** Returns the number of this field. */
    public final int field() {
        return place.field();
    }

    /** Returns the number of this field's first array in the slot. */
    public final int firstArray() {
        return place.firstArray();
    }

    /** Returns whether every batch has one row for each sample, all of equal length. */
    public boolean hasEqualRows() {
        return true;
    }

    /** Returns whether steps change the rows. */
    public boolean isTransforming() {
        return parts[0].isTransforming();
    }

    /** Returns whether user code changes the rows. */
    public boolean runsUserCode() {
        return parts[0].runsUserCode();
    }

    /** Returns the decoder of this field's images and a fingerprint of its results, or null if there are no images. */
    public @Nullable String decoder() {
        return parts[0].decoder();
    }

    /** Returns the approximate number of bytes read for one sample. */
    public long sampleByteSize() {
        return parts[0].meanByteSize();
    }

    /** Returns whether the source is still mapped. */
    public boolean isOpen() {
        for (SampleRows part : parts) {
            if (!part.isOpen()) {
                return false;
            }
        }
        return true;
    }

    /** Looks up rows and makes room for all samples of the batch. One thread calls this before any thread fills in samples. */
    public final void prepare(HostSlot slot) {
        lookUp(slot);
        prepareRows(slot, rows(slot));
    }

    private void lookUp(HostSlot slot) {
        if (place.lookup() != null) {
            place.lookup().find(slot, slot.lookedUp(field()));
        }
    }

    abstract void prepareRows(HostSlot slot, long[] rows);

    /** Fails if a sample has no row in this field, or if its row does not fit. */
    public final void check(HostSlot slot, int sample) {
        long row = row(slot, sample);
        if (!hasEqualRows()) {
            var unused = part(slot, sample).length(row);
        }
    }

    /** Returns the row of a sample, counted in its dataset. */
    final long row(HostSlot slot, int sample) {
        long number = slot.rows[sample];
        RowLookup lookup = place.lookup();
        return lookup == null ? number : lookup.find(number, slot.epoch, slot.positions[sample]);
    }

    /** Fills in the samples {@code first} to {@code first + count - 1}. */
    public abstract void fill(HostSlot slot, int first, int count, @Nullable Object scratch);

    /** Returns the memory that a thread needs to fill in samples. */
    public @Nullable Object newScratch() {
        if (parts.length == 1) {
            return parts[0].newScratch();
        }
        @Nullable Object[] scratch = new @Nullable Object[parts.length];
        for (int i = 0; i < parts.length; i++) {
            scratch[i] = parts[i].newScratch();
        }
        return scratch;
    }

    // ---- rows that may not be in memory

    /** Returns the files of rows that may not be in memory. */
    public final List<DiskRows> disks() {
        return List.of(disks);
    }

    /** Returns the memory of a row that was requested: its pages; 0 if all rows are in memory anyway. */
    public final long pageBytes() {
        return pageBytes;
    }

    /** Returns whether rows are read by calls, and not copied from mappings. */
    public boolean reads() {
        for (DiskRows disk : disks) {
            if (disk.isRead()) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether rows are copied from mappings of files that may not be in memory. */
    public final boolean copiesFromDisk() {
        for (DiskRows disk : disks) {
            if (!disk.isRead()) {
                return true;
            }
        }
        return false;
    }

    /** Adds the time of a copy from a mapping that waited for a disk, and reads rows by calls from now on. */
    public final void addWait(long nanos) {
        disks[0].addWait(nanos);
        var unused = leaveMappings();
    }

    /** Returns how long the calling thread has waited for disks, in nanoseconds. */
    public final long diskWaitNanos() {
        long nanos = 0;
        for (DiskRows disk : disks) {
            nanos += disk.waitNanos();
        }
        return nanos;
    }

    /** Reads rows by calls from now on; returns false if they are read so already, or are in memory anyway. */
    public final boolean leaveMappings() {
        boolean left = false;
        for (DiskRows disk : disks) {
            left |= disk.leaveMapping();
        }
        return left;
    }

    /** Requests the rows of the samples {@code first} to {@code end - 1}, except those that cannot be found. One thread calls this. */
    public final void readAhead(HostSlot slot, int first, int end) {
        for (DiskRows disk : disks) {
            disk.beginRequests();
        }
        for (int i = first; i < end; i++) {
            try {
                request(slot, i);
            } catch (RuntimeException | InternalError notFound) {
                // a gather thread reports it, or skips the sample
            }
        }
        for (DiskRows disk : disks) {
            disk.endRequests();
        }
    }

    private void request(HostSlot slot, int sample) {
        SampleRows part = part(slot, sample);
        DiskRows disk = part.source().disk();
        if (disk == null || !disk.isRead()) {
            return;
        }
        long row = row(slot, sample);
        if (part.readsSource(row)) {
            disk.request(part.source(), row);
        } else {
            disk.passOver();
        }
    }

    /** Returns the row of this field for each sample. */
    final long[] rows(HostSlot slot) {
        long[] found = place.lookup() == null ? null : slot.lookedUp[field()];
        return found == null ? slot.rows : found;
    }

    /** Returns an array of the slot by its index among this field's arrays. */
    final SlotArray array(HostSlot slot, int number) {
        return slot.arrays[place.firstArray() + number];
    }

    /** Returns the rows of a sample's dataset. */
    final SampleRows part(HostSlot slot, int sample) {
        return parts[partNumber(slot, sample)];
    }

    private int partNumber(HostSlot slot, int sample) {
        return parts.length == 1 ? 0 : RowLookup.part(place.firstSamples(), slot.rows[sample]);
    }

    /**
     * Writes rows of equal length back to back, or the row of one sample.
     *
     * @param item the start of the first row in the target, in rows of equal length, or in items of ragged rows
     * @return the number of items in the last row
     */
    final int write(HostSlot slot, int first, int count, SlotArray target, int item, @Nullable Object scratch) {
        long[] rows = rows(slot);
        if (parts.length == 1) {
            return parts[0].write(slot, rows, first, count, target, item, scratch);
        }
        @Nullable Object[] own = Objects.requireNonNull((@Nullable Object[]) scratch);
        int items = 0;
        int end = first + count;
        for (int i = first; i < end; ) {
            int part = partNumber(slot, i);
            int run = i + 1;
            while (run < end && partNumber(slot, run) == part) {
                run++;
            }
            items = parts[part].write(slot, rows, i, run - i, target, item + i - first, own[part]);
            i = run;
        }
        return items;
    }
}
