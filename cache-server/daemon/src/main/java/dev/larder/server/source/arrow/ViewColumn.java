package dev.larder.server.source.arrow;

import dev.larder.column.BytesBuilder;
import dev.larder.column.ColumnBuilder;
import dev.larder.column.ColumnMemory;
import dev.larder.column.StringsBuilder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Texts or bytes that lie anywhere in some buffers of their batch: they are put together while the file is checked. */
final class ViewColumn extends ArrowColumn {
    private static final int VIEW_BYTES = 16;
    private static final int MOST_INLINE_BYTES = 12;
    private static final int BUFFER_OFFSET = 8;
    private static final int PLACE_OFFSET = 12;
    private static final int VIEWS_AT_ONCE = 512;

    /** A row goes through the heap. */
    private static final int LONGEST_ROW = 1 << 26;

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
        batch.nextBuffer(Math.multiplyExact(to, VIEW_BYTES));
        long viewsOffset = batch.bufferOffset();
        int count = batch.moreBuffers();
        long[] offsets = new long[count];
        long[] sizes = new long[count];
        for (int i = 0; i < count; i++) {
            batch.nextBuffer(0);
            offsets[i] = batch.bufferOffset();
            sizes[i] = batch.bufferBytes();
        }
        ByteBuffer views = ByteBuffer.allocate(VIEWS_AT_ONCE * VIEW_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long row = from; row < to; row++) {
            int place = (int) ((row - from) % VIEWS_AT_ONCE);
            if (place == 0) {
                views.clear().limit((int) Math.min(VIEWS_AT_ONCE, to - row) * VIEW_BYTES);
                batch.file().read(viewsOffset + row * VIEW_BYTES, views);
            }
            add(batch, views, place * VIEW_BYTES, offsets, sizes, nulls.isNull(row));
        }
    }

    /** Adds a row. Rows may share bytes: how long they all become only the store's memory limits. */
    private void add(BatchCursor batch, ByteBuffer views, int view, long[] offsets, long[] sizes, boolean isNull) {
        int length = isNull ? 0 : views.getInt(view);
        if (length < 0 || length > LONGEST_ROW) {
            throw batch.file().refusal("column " + name + " has a view of " + length + " bytes");
        }
        ByteBuffer row;
        if (length <= MOST_INLINE_BYTES) {
            row = views.slice(view + Integer.BYTES, length);
        } else {
            int buffer = views.getInt(view + BUFFER_OFFSET);
            long place = views.getInt(view + PLACE_OFFSET);
            if (buffer < 0 || buffer >= offsets.length || place < 0 || place > sizes[buffer] - length) {
                throw batch.file().refusal("column " + name + " has views beyond its buffers");
            }
            row = ByteBuffer.allocate(length);
            batch.file().read(offsets[buffer] + place, row);
        }
        CodesColumn.add(builder, row);
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
