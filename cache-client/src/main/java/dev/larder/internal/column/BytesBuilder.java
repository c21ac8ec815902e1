package dev.larder.internal.column;

import dev.larder.internal.layout.ColumnPart;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Builds a column of raw bytes, such as whole files. Either all rows have names or none has. */
public final class BytesBuilder extends ColumnBuilder {
    /** The names of rows are a column of their own: below the name of this one, with this name. */
    public static final String NAMES = "names";

    private final NativeBytes values;
    private final RowOffsets offsets;
    private final StringsBuilder names;

    /** Starts a column in anonymous memory. */
    public BytesBuilder() {
        this(ColumnMemory.anonymous());
    }

    /** Starts a column in memory that the caller closes later. */
    public BytesBuilder(ColumnMemory memory) {
        this.values = new NativeBytes(memory);
        this.offsets = new RowOffsets(memory);
        this.names = new StringsBuilder(memory);
    }

    /** Adds the bytes that remain in a buffer as a row. */
    public void add(ByteBuffer row) {
        requireAllOrNone(0);
        addValue(row);
    }

    /** Adds a row that has a name. */
    public void add(String name, ByteBuffer row) {
        requireAllOrNone(size());
        names.add(name);
        addValue(row);
    }

    private void requireAllOrNone(long expectedNames) {
        if (names.size() != expectedNames) {
            throw new IllegalStateException("some rows have names, some have none: rows=" + size());
        }
    }

    private void addValue(ByteBuffer row) {
        int length = row.remaining();
        values.append(row);
        offsets.add(length);
    }

    @Override
    public long size() {
        return offsets.size();
    }

    @Override
    public List<ColumnArray> arrays(String column) {
        List<ColumnArray> arrays = new ArrayList<>();
        arrays.add(ColumnArray.of(column, ColumnPart.BYTES_VALUES, "|u1", values, values.byteSize()));
        arrays.addAll(offsets.arrays(column));
        if (names.size() > 0) {
            arrays.addAll(names.arrays(column + "/" + NAMES));
        }
        return List.copyOf(arrays);
    }

    @Override
    public void close() {
        values.close();
        offsets.close();
        names.close();
    }
}
