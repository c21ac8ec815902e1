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
        super(steps.array().name(), List.of(output(steps)), lookup, place);
        this.steps = steps;
        this.rest = steps.rest();
        this.seed = seed;
        this.blockRows = Math.max(1, BLOCK_BYTES / Math.max(1, steps.first().rowByteSize()));
    }

    private static OutputArray output(KeptSteps steps) {
        SampleTransform last = steps.rest() == null ? steps.first() : steps.rest();
        return new OutputArray(steps.name(), last.dtype(), last.rowShape());
    }

    @Override
    boolean runsUserCode() {
        return steps.runsUserCode();
    }

    @Override
    public boolean isTransforming() {
        return true;
    }

    @Override
    long sampleByteSize() {
        return Math.max(steps.array().rowByteSize(), steps.rows().rowByteSize());
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

    @Override
    public Object newScratch() {
        ComputedRows.Reader reader = steps.rows().reader(steps.newFunction());
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
