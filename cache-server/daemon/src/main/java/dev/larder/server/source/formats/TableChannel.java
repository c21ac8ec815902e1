package dev.larder.server.source.formats;

import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;

/** Delivers columns of a table row by row, as the elements of an array. Used by one thread; the table stays open. */
final class TableChannel implements ReadableByteChannel {
    private final Path file;
    private final NumberTable table;
    private final ColumnGroups.Group group;
    private final NumberFormat format;
    private final long[] numbers;
    private final ByteBuffer ready;
    private long nextBlock;
    private boolean open = true;

    TableChannel(Path file, NumberTable table, ColumnGroups.Group group, NumberFormat format) {
        this.file = file;
        this.table = table;
        this.group = group;
        this.format = format;
        int most = (int) Math.min(table.blockRows(), table.rows()) * group.count();
        this.numbers = new long[most];
        this.ready = ByteBuffer.allocate(most * format.dtype().itemSize())
                .order(format.dtype().byteOrder())
                .limit(0);
    }

    @Override
    public int read(ByteBuffer target) {
        if (!target.hasRemaining()) {
            return 0;
        }
        if (!ready.hasRemaining() && !refill()) {
            return -1;
        }
        int length = Math.min(ready.remaining(), target.remaining());
        target.put(ready.slice(ready.position(), length));
        ready.position(ready.position() + length);
        return length;
    }

    private boolean refill() {
        long firstRow = nextBlock * table.blockRows();
        if (firstRow >= table.rows()) {
            return false;
        }
        try {
            table.read(nextBlock, group.first(), group.count(), numbers);
        } catch (IOException e) {
            throw Refusal.unreadable(file, 0, "temporary file: ", e);
        }
        int rows = table.rowsOf(nextBlock);
        ready.clear();
        for (int row = 0; row < rows; row++) {
            for (int c = 0; c < group.count(); c++) {
                put(group.first() + c, firstRow + row, numbers[c * rows + row]);
            }
        }
        ready.flip();
        nextBlock++;
        return true;
    }

    private void put(int column, long row, long number) {
        if (row < table.firstReal(column)) {
            format.put(ready, number, table.hasUnsigned(column));
        } else {
            format.put(ready, Double.longBitsToDouble(number));
        }
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public void close() {
        open = false;
    }
}
