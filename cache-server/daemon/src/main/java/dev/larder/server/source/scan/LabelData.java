package dev.larder.server.source.scan;

import dev.larder.server.source.ArrayData;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.util.function.IntToLongFunction;

/**
 * Numbers of eight bytes, little-endian, that are computed while they are read.
 *
 * @param rows how many there are
 * @param number computes one; called from several threads
 */
record LabelData(int rows, IntToLongFunction number) implements ArrayData {
    private static final int ROWS_AT_ONCE = 1024;

    @Override
    public ReadableByteChannel open() {
        return new Channel();
    }

    private final class Channel implements ReadableByteChannel {
        private final ByteBuffer computed = ByteBuffer.allocate(ROWS_AT_ONCE * Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .limit(0);
        private int next;
        private boolean open = true;

        @Override
        public int read(ByteBuffer target) {
            if (!computed.hasRemaining()) {
                if (next == rows) {
                    return -1;
                }
                computed.clear();
                for (; next < rows && computed.hasRemaining(); next++) {
                    computed.putLong(number.applyAsLong(next));
                }
                computed.flip();
            }
            int length = Math.min(computed.remaining(), target.remaining());
            target.put(computed.slice().limit(length));
            computed.position(computed.position() + length);
            return length;
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
