package dev.larder.internal.column;

import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.ColumnPart;
import java.util.List;

/** Builds the offsets of a bytes column whose values are stored elsewhere, such as the files of a folder. */
public final class RowOffsets extends ColumnBuilder {
    private final ColumnPart part;
    private final NativeBytes offsets;
    private long end;

    /** Starts a bytes column in anonymous memory. */
    public RowOffsets() {
        this(ColumnMemory.anonymous());
    }

    /** Starts a bytes column in memory that the caller closes later. */
    public RowOffsets(ColumnMemory memory) {
        this(ColumnPart.BYTES_OFFSETS, memory);
    }

    RowOffsets(ColumnPart part, ColumnMemory memory) {
        this.part = part;
        this.offsets = new NativeBytes(memory);
        offsets.appendLong(0);
    }

    /** Adds a row with this number of elements; in a bytes column, bytes. */
    public void add(long elements) {
        if (elements < 0) {
            throw new IllegalArgumentException("elements=" + elements);
        }
        end = ByteSums.add(end, elements);
        offsets.appendLong(end);
    }

    /** Returns the total number of elements. */
    public long elements() {
        return end;
    }

    @Override
    public long size() {
        return offsets.byteSize() / Long.BYTES - 1;
    }

    @Override
    public List<ColumnArray> arrays(String column) {
        return List.of(ColumnArray.of(column, part, "<i8", offsets, size() + 1));
    }

    @Override
    public void close() {
        offsets.close();
    }
}
