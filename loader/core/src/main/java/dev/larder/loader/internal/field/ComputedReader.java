package dev.larder.loader.internal.field;

import dev.larder.client.ComputedRows;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.internal.transform.TransformScratch;
import java.util.List;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** Copies rows that are computed once and kept, computes those that are missing, and does the random steps and what follows them. */
final class ComputedReader extends FieldReader {
    /** As for rows that are transformed: some are copied at a time. */
    private static final int BLOCK_BYTES = 16 << 10;

    private final KeptSteps steps;
    private final @Nullable SampleTransform rest;
    private final long seed;
    private final int blockRows;

    ComputedReader(KeptSteps steps, long seed, @Nullable RowLookup lookup, Place place) {
        super(steps.making().column(), List.of(output(steps)), lookup, place);
        this.steps = steps;
        this.rest = steps.rest();
        this.seed = seed;
        this.blockRows =
                Math.max(1, BLOCK_BYTES / Math.max(1, (int) steps.rows().rowByteSize()));
    }

    private static OutputArray output(KeptSteps steps) {
        SampleTransform rest = steps.rest();
        return rest == null
                ? new OutputArray(
                        steps.name(), steps.making().dtype(), steps.making().rowShape())
                : new OutputArray(steps.name(), rest.dtype(), rest.rowShape());
    }

    @Override
    public boolean runsUserCode() {
        return steps.runsUserCode();
    }

    @Override
    public boolean isTransforming() {
        return true;
    }

    @Override
    public @Nullable String decoder() {
        return steps.making().decoder();
    }

    @Override
    long sampleByteSize() {
        return Math.max(steps.making().storedByteSize(), steps.rows().rowByteSize());
    }

    @Override
    public boolean isOpen() {
        return steps.rows().isOpen();
    }

    @Override
    void prepareRows(HostSlot slot, long[] rows) {
        array(slot, 0).resize(slot.size);
    }

    @Override
    public void fill(HostSlot slot, int first, int count, @Nullable Object scratch) {
        Room room = Objects.requireNonNull((Room) scratch);
        SlotArray target = array(slot, 0);
        long[] rows = rows(slot);
        computeFree(room.reader, slot, first, count);
        if (rest == null) {
            int offset = (int) (first * steps.rows().rowByteSize());
            room.reader.copyRows(rows, first, count, target.memory(), offset);
            return;
        }
        long epoch = slot.epoch;
        for (int block = first; block < first + count; block += blockRows) {
            int end = Math.min(first + count, block + blockRows);
            room.reader.copyRows(rows, block, end - block, room.buffer, 0);
            int offset = 0;
            for (int i = block; i < end; i++, offset += rest.storedByteSize()) {
                rest.apply(
                        room.bytes,
                        offset,
                        target.output(),
                        i,
                        seed,
                        epoch,
                        slot.positions[i],
                        Objects.requireNonNull(room.scratch));
            }
        }
    }

    /**
     * Computes the rows of some samples, and, where other processes are at some of those, what is missing of the whole batch: tasks of
     * long rows have only few, and all would wait for the same one.
     */
    private void computeFree(ComputedRows.Reader reader, HostSlot slot, int first, int count) {
        long[] rows = rows(slot);
        if (reader.computeFree(rows, first, count)) {
            return;
        }
        for (int i = 0; i < slot.size - count; i++) {
            slot.requireNotEnded();
            var unused = computeFree(reader, rows, (first + count + i) % slot.size);
        }
    }

    private static boolean computeFree(ComputedRows.Reader reader, long[] rows, int sample) {
        try {
            return reader.computeFree(rows, sample, 1);
        } catch (Throwable e) { // who fills that sample in meets it, too, and can say which it was
            return false;
        }
    }

    @Override
    public Object newScratch() {
        ComputedRows.Reader reader = steps.rows().reader(steps.making().newComputation(), steps.patience());
        byte[] bytes = new byte[rest == null ? 0 : Math.multiplyExact(blockRows, rest.storedByteSize())];
        return new Room(reader, bytes, new UnsafeBuffer(bytes), rest == null ? null : rest.newScratch());
    }

    /** One thread's memory. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Room(
            ComputedRows.Reader reader,
            byte[] bytes,
            UnsafeBuffer buffer,
            @Nullable TransformScratch scratch) {}
}
