package dev.larder.server.source.scan;

import dev.larder.server.source.ArrayData;
import dev.larder.server.source.BlockChannel;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.function.IntToLongFunction;

/**
 * Little-endian numbers of eight bytes that are computed while they are read.
 *
 * @param rows how many numbers there are
 * @param number computes the number of a row; several threads call it
 */
record LabelData(int rows, IntToLongFunction number) implements ArrayData {
    private static final int ROWS_AT_ONCE = 1024;

    @Override
    public ReadableByteChannel open() {
        return new BlockChannel(ROWS_AT_ONCE * Long.BYTES, () -> {}) {
            private int next;

            @Override
            protected void fill(ByteBuffer empty) {
                for (; next < rows && empty.hasRemaining(); next++) {
                    empty.putLong(number.applyAsLong(next));
                }
            }
        };
    }
}
