package dev.larder.internal.column;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.KeyTableDescriptor;
import java.util.List;

/** Builds an index that maps integers to rows. */
public final class IntegerIndexBuilder extends ColumnBuilder {
    private final NativeBytes entries;
    private final KeyTableBuilder slots;

    /** Starts an index in anonymous memory. */
    public IntegerIndexBuilder() {
        this(ColumnMemory.anonymous());
    }

    /** Starts an index in memory that the caller closes later. */
    public IntegerIndexBuilder(ColumnMemory memory) {
        this.entries = new NativeBytes(memory);
        this.slots = new KeyTableBuilder(memory);
    }

    /** Adds a key and its row, which must not be negative. */
    public void add(long key, long row) {
        KeyTableBuilder.requireRow(row);
        entries.appendLong(key);
        entries.appendLong(row);
    }

    @Override
    public long size() {
        return entries.byteSize() / KeyTableDescriptor.ENTRY_LENGTH;
    }

    @Override
    public List<ColumnArray> arrays(String column) {
        if (slots.isEmpty()) {
            fill(column);
        }
        return List.of(
                slots.array(column), ColumnArray.of(column, ColumnPart.INDEX_ENTRIES, "<i8", entries, size(), 2));
    }

    private void fill(String column) {
        slots.allocate(size());
        for (long k = 0; k < size(); k++) {
            long key = key(k);
            if (!slots.insert(KeyTableDescriptor.hash(key), k, other -> key(other) == key)) {
                slots.close();
                throw Failure.of(ErrorCode.BAD_INPUT, "an index has a key twice")
                        .with("column", column)
                        .with("key", key)
                        .with("secondPlace", k)
                        .remedy("make the keys distinct");
            }
        }
    }

    private long key(long place) {
        return entries.longAt(place * KeyTableDescriptor.ENTRY_LENGTH);
    }

    @Override
    public void close() {
        entries.close();
        slots.close();
    }
}
