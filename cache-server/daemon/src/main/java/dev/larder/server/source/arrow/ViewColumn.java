package dev.larder.server.source.arrow;

import dev.larder.internal.column.BytesBuilder;
import dev.larder.internal.column.ColumnBuilder;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.StringsBuilder;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Kind;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Texts or bytes that are views: in no order in the file, so the scan copies them into memory of the column. */
final class ViewColumn extends FieldColumn {
    private static final int LONGEST_ROW = 1 << 26;
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final ArrowField field;
    private final ColumnBuilder builder;
    private boolean isHandedOver;

    ViewColumn(String name, @Nullable Nulls above, ArrowField field, ColumnMemory memory) {
        super(name, above);
        this.field = field;
        this.builder = builder(field, memory);
    }

    /** Returns a builder of texts, or of bytes. */
    static ColumnBuilder builder(ArrowField field, ColumnMemory memory) {
        boolean isText = field.kind() == Kind.TEXTS || field.kind() == Kind.TEXT_VIEWS;
        return isText ? new StringsBuilder(memory) : new BytesBuilder(memory);
    }

    /** Adds a row to such a builder. */
    static void add(ColumnBuilder builder, ByteBuffer row) {
        if (builder instanceof StringsBuilder texts) {
            texts.addUtf8(row);
        } else if (builder instanceof BytesBuilder bytes) {
            bytes.add(row);
        }
    }

    @Override
    void takeRows(BatchCursor batch, long from, long to) {
        RowReader rows = new RowReader(batch, name, field, to, LONGEST_ROW);
        for (long row = from; row < to; row++) {
            add(builder, nulls.isNull(row) ? EMPTY : rows.row(row));
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
