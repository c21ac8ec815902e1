package dev.larder.loader.internal.field;

import dev.larder.client.RaggedColumn;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.internal.transform.TransformScratch;
import java.util.Objects;
import java.util.stream.LongStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/** Rows of a ragged column, which differ in their first dimension alone; elements may be transformed. */
final class RaggedArrays extends RaggedRows {
    private final RaggedColumn column;
    private final long[] innerShape;
    private final int storedItemByteSize;
    private final @Nullable SampleTransform transform;

    private RaggedArrays(RaggedColumn column, long[] innerShape, long atMost, @Nullable SampleTransform transform) {
        super(
                new OutputArray(column.name(), transform == null ? column.dtype() : transform.dtype(), innerShape),
                column.rows(),
                atMost);
        this.column = column;
        this.innerShape = innerShape;
        this.transform = transform;
        this.storedItemByteSize =
                Math.toIntExact(new OutputArray(column.name(), column.dtype(), innerShape).rowByteSize());
    }

    static RaggedArrays of(RaggedColumn column, FieldSpec field) {
        if (column.dimensions() == 0) {
            throw Failure.of(ErrorCode.BAD_INPUT, "rows of this column have no dimensions")
                    .with("column", column.name())
                    .remedy("save each row as a 1-d array");
        }
        SampleTransform transform = field.transform() == null
                ? null
                : SampleTransform.compileElements(Objects.requireNonNull(field.transform()), column.dtype());
        return new RaggedArrays(column, innerShape(column), field.truncateAt(), transform);
    }

    /** Returns the dimensions after the first that every row must have: those of the first row. */
    private static long[] innerShape(RaggedColumn column) {
        return LongStream.range(1, column.dimensions())
                .map(i -> column.rows() == 0 ? 0 : column.dimension(0, (int) i))
                .toArray();
    }

    @Override
    long fullLength(long row) {
        for (int i = 0; i < innerShape.length; i++) {
            long size = column.dimension(row, i + 1);
            if (size != innerShape[i]) {
                throw Failure.of(ErrorCode.BAD_INPUT, "rows differ in more than their first dimension")
                        .with("column", column.name())
                        .with("row", row)
                        .with("dimension", i + 1)
                        .with("size", size)
                        .with("firstRow", innerShape[i])
                        .remedy("only the first dimension may differ from row to row");
            }
        }
        return column.dimension(row, 0);
    }

    @Override
    void copy(long row, SlotArray target, int item, @Nullable Object scratch) {
        long stored = length(row) * storedItemByteSize;
        if (transform == null) {
            column.copy(row, stored, target.memory(), item * itemByteSize());
        } else if (stored > 0) {
            Room room = Objects.requireNonNull((Room) scratch);
            room.reserve(Math.toIntExact(stored));
            column.copy(row, stored, room.buffer, 0);
            int perItem = itemByteSize() / transform.rowByteSize();
            int elements = (int) (stored / transform.storedByteSize());
            transform.applyElements(room.bytes, 0, elements, target.output(), item * perItem, room.scratch);
        }
    }

    @Override
    boolean isTransforming() {
        return transform != null;
    }

    @Override
    @Nullable
    Object newScratch() {
        return transform == null ? null : new Room(transform.newScratch());
    }

    @Override
    boolean isOpen() {
        return column.isOpen();
    }

    /** One thread's memory, as long as the longest row that it met. */
    private static final class Room {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[0]);
        final TransformScratch scratch;
        byte[] bytes = new byte[0];

        Room(TransformScratch scratch) {
            this.scratch = scratch;
        }

        void reserve(int length) {
            if (bytes.length < length) {
                bytes = new byte[(int) Math.min(Integer.MAX_VALUE - 8L, length + length / 4L)];
                buffer.wrap(bytes);
            }
        }
    }
}
