package dev.larder.server.source;

import java.nio.channels.ReadableByteChannel;
import java.util.function.Supplier;

/**
 * Data that a format writes.
 *
 * @param first opens it
 * @param last opens it for the last time
 */
record WrittenData(Supplier<ReadableByteChannel> first, Supplier<ReadableByteChannel> last, Runnable onRelease)
        implements ArrayData {
    @Override
    public ReadableByteChannel open() {
        return first.get();
    }

    @Override
    public ReadableByteChannel openForLastTime() {
        return last.get();
    }

    @Override
    public void release() {
        onRelease.run();
    }
}
