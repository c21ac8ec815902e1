package dev.larder.server.source.text;

import dev.larder.server.source.ArrayData;
import dev.larder.server.source.BuiltData;
import dev.larder.server.source.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.List;

/**
 * A matrix whose columns were built one by one.
 *
 * @param columns as many elements each, of eight bytes
 */
record MatrixData(List<BuiltData> columns) implements ArrayData {
    private static final int BLOCK_ELEMENTS = 1 << 17;

    @Override
    public List<FileRegion> regions() {
        return List.of();
    }

    @Override
    public ReadableByteChannel open() {
        return new Rows(columns.stream().map(BuiltData::open).toList());
    }

    @Override
    public ReadableByteChannel openForLastTime() {
        return new Rows(columns.stream().map(BuiltData::openForLastTime).toList());
    }

    @Override
    public void release() {
        columns.forEach(BuiltData::release);
    }

    /** Delivers the matrix row by row. Used by one thread. */
    private static final class Rows implements ReadableByteChannel {
        private final List<ReadableByteChannel> columns;
        private final ByteBuffer column;
        private final ByteBuffer block;
        private boolean open = true;

        Rows(List<ReadableByteChannel> columns) {
            int rows = Math.max(1, BLOCK_ELEMENTS / columns.size());
            this.columns = columns;
            this.column = ByteBuffer.allocate(rows * Long.BYTES);
            this.block = ByteBuffer.allocate(rows * columns.size() * Long.BYTES).limit(0);
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            if (!block.hasRemaining() && target.hasRemaining() && !refill()) {
                return -1;
            }
            int length = Math.min(block.remaining(), target.remaining());
            target.put(block.slice(block.position(), length));
            block.position(block.position() + length);
            return length;
        }

        private boolean refill() throws IOException {
            int rowBytes = columns.size() * Long.BYTES;
            for (int c = 0; c < columns.size(); c++) {
                column.clear();
                while (column.hasRemaining() && columns.get(c).read(column) >= 0) {
                    // the channel gives all that it has in a few calls
                }
                column.flip();
                block.limit(column.remaining() * columns.size()).position(0);
                for (int at = c * Long.BYTES; column.hasRemaining(); at += rowBytes) {
                    block.putLong(at, column.getLong());
                }
            }
            return block.hasRemaining();
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
}
