package dev.larder.loader.internal.field;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.slot.SlotArray;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Rows of different lengths from several datasets, which follow each other. */
final class ConcatRows extends RaggedRows {
    private final RaggedRows[] parts;
    private final long[] firstRows;

    private ConcatRows(RaggedRows[] parts, long[] firstRows) {
        super(
                new OutputArray(parts[0].column(), parts[0].dtype(), parts[0].rowShape()),
                firstRows[parts.length],
                Long.MAX_VALUE); // each part cuts its own rows
        this.parts = parts;
        this.firstRows = firstRows;
    }

    static ConcatRows of(List<RaggedRows> rows) {
        RaggedRows[] parts = rows.toArray(RaggedRows[]::new);
        long[] firstRows = new long[parts.length + 1];
        for (int i = 0; i < parts.length; i++) {
            if (!parts[i].dtype().equals(parts[0].dtype())
                    || !Arrays.equals(parts[i].rowShape(), parts[0].rowShape())) {
                throw Failure.of(ErrorCode.BAD_INPUT, "rows of a column differ from dataset to dataset")
                        .with("column", parts[0].column())
                        .with("first", parts[0].dtype() + " " + Arrays.toString(parts[0].rowShape()))
                        .with("dataset", i)
                        .with("found", parts[i].dtype() + " " + Arrays.toString(parts[i].rowShape()))
                        .remedy("concatenate datasets whose columns have the same dtype and inner dimensions");
            }
            firstRows[i + 1] = firstRows[i] + parts[i].rows();
        }
        return new ConcatRows(parts, firstRows);
    }

    long[] firstRows() {
        return firstRows;
    }

    private int part(long row) {
        Objects.checkIndex(row, rows());
        return ConcatLookup.part(firstRows, row);
    }

    @Override
    long fullLength(long row) {
        int part = part(row);
        return parts[part].length(row - firstRows[part]);
    }

    @Override
    void copy(long row, SlotArray target, int item, @Nullable Object scratch) {
        int part = part(row);
        @Nullable Object[] own = Objects.requireNonNull((@Nullable Object[]) scratch);
        parts[part].copy(row - firstRows[part], target, item, own[part]);
    }

    @Override
    boolean isTransforming() {
        return parts[0].isTransforming();
    }

    @Override
    Object newScratch() {
        @Nullable Object[] scratch = new @Nullable Object[parts.length];
        for (int i = 0; i < parts.length; i++) {
            scratch[i] = parts[i].newScratch();
        }
        return scratch;
    }

    @Override
    boolean isOpen() {
        return Arrays.stream(parts).allMatch(RaggedRows::isOpen);
    }
}
