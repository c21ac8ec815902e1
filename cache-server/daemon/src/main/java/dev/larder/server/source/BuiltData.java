package dev.larder.server.source;

import dev.larder.internal.column.ColumnArray;
import java.nio.channels.ReadableByteChannel;

/**
 * Data that was computed while the source was scanned; outside of the heap until it is released.
 *
 * @param array what was computed
 */
public record BuiltData(ColumnArray array) implements ArrayData {
    @Override
    public ReadableByteChannel open() {
        return array.open();
    }

    @Override
    public ReadableByteChannel openForLastTime() {
        return array.drain();
    }

    @Override
    public void release() {
        array.close();
    }
}
