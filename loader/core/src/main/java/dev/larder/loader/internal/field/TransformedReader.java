package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.internal.transform.TransformScratch;
import dev.larder.loader.transform.Step;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** Copies rows of an array and transforms them on the way. */
final class TransformedReader extends FieldReader {
    /** Some rows are copied at a time, so that the next ones are fetched from memory meanwhile, but stay in the nearest cache. */
    private static final int BLOCK_BYTES = 16 << 10;

    private final ArrayView array;
    private final SampleTransform transform;
    private final long seed;
    private final int blockRows;
    private final boolean runsUserCode;

    TransformedReader(ArrayView array, FieldSpec field, long seed, @Nullable RowLookup lookup, Place place) {
        this(array, field, compile(field, array), seed, lookup, place);
    }

    private TransformedReader(
            ArrayView array,
            FieldSpec field,
            SampleTransform transform,
            long seed,
            @Nullable RowLookup lookup,
            Place place) {
        super(
                array.name(),
                List.of(new OutputArray(field.name(), transform.dtype(), transform.rowShape())),
                lookup,
                place);
        this.array = array;
        this.transform = transform;
        this.seed = seed;
        this.blockRows = Math.max(1, BLOCK_BYTES / Math.max(1, transform.storedByteSize()));
        this.runsUserCode =
                Objects.requireNonNull(field.transform()).steps().stream().anyMatch(TransformedReader::isUserCode);
    }

    static boolean isUserCode(Step step) {
        return step instanceof Step.MapFloats || step instanceof Step.MapBytes || step instanceof Step.MapRow;
    }

    private static SampleTransform compile(FieldSpec field, ArrayView array) {
        long[] rowShape = Arrays.copyOfRange(array.shape(), 1, array.dimensions());
        return SampleTransform.compile(Objects.requireNonNull(field.transform()), array.dtype(), rowShape);
    }

    @Override
    public boolean runsUserCode() {
        return runsUserCode;
    }

    @Override
    public boolean isTransforming() {
        return true;
    }

    @Override
    long sampleByteSize() {
        return array.rowByteSize();
    }

    @Override
    public boolean isOpen() {
        return array.isOpen();
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
        long epoch = slot.epoch;
        for (int block = first; block < first + count; block += blockRows) {
            int end = Math.min(first + count, block + blockRows);
            array.copyRows(rows, block, end - block, room.buffer, 0);
            int offset = 0;
            for (int i = block; i < end; i++, offset += transform.storedByteSize()) {
                transform.apply(room.bytes, offset, target.output(), i, seed, epoch, slot.positions[i], room.scratch);
            }
        }
    }

    @Override
    public Object newScratch() {
        return new Room(new byte[Math.multiplyExact(blockRows, transform.storedByteSize())], transform.newScratch());
    }

    /** One thread's memory. */
    private static final class Room {
        final byte[] bytes;
        final UnsafeBuffer buffer;
        final TransformScratch scratch;

        Room(byte[] bytes, TransformScratch scratch) {
            this.bytes = bytes;
            this.buffer = new UnsafeBuffer(bytes);
            this.scratch = scratch;
        }
    }
}
