package dev.larder.server.source.arrow;

import dev.larder.internal.column.BytesBuilder;
import dev.larder.internal.column.ColumnBuilder;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.StringsBuilder;
import dev.larder.reader.arrow.ArrowField;
import java.nio.ByteBuffer;

/** Texts or bytes that lie anywhere in some buffers of their batch: they are put together while the file is checked. */
final class ViewColumn extends ArrowColumn {
    /** A row goes through the heap. */
    private static final int LONGEST_ROW = 1 << 26;

    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final String name;
    private final Nulls nulls;
    private final ColumnBuilder builder;
    private boolean isHandedOver;

    ViewColumn(String name, Nulls nulls, ArrowField field, ColumnMemory memory) {
        this.name = name;
        this.nulls = nulls;
        this.builder =
                field.kind() == ArrowField.Kind.TEXT_VIEWS ? new StringsBuilder(memory) : new BytesBuilder(memory);
    }

    @Override
    void take(BatchCursor batch, long from, long to) {
        nulls.take(batch, from, to);
        Views views = new Views(batch, name, to, LONGEST_ROW);
        for (long row = from; row < to; row++) {
            CodesColumn.add(builder, nulls.isNull(row) ? EMPTY : views.row(row));
        }
    }

    @Override
    void addArrays(FoundArrays arrays) {
        isHandedOver = true;
        arrays.add(name, builder);
        nulls.addMask(name, arrays);
    }

    @Override
    public void close() {
        if (!isHandedOver) {
            builder.close();
        }
    }
}
