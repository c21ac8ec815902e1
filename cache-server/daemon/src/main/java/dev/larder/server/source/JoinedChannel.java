package dev.larder.server.source;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Iterator;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads channels one after the other; opens each when the one before has ended. */
final class JoinedChannel implements ReadableByteChannel {
    private final Iterator<Supplier<ReadableByteChannel>> rest;
    private @Nullable ReadableByteChannel current;
    private boolean open = true;

    JoinedChannel(Stream<Supplier<ReadableByteChannel>> channels) {
        this.rest = channels.iterator();
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        while (true) {
            ReadableByteChannel channel = current;
            if (channel == null) {
                if (!rest.hasNext()) {
                    return -1;
                }
                channel = rest.next().get();
                current = channel;
            }
            int read = channel.read(target);
            if (read >= 0) {
                return read;
            }
            current = null;
            channel.close();
        }
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public void close() throws IOException {
        open = false;
        ReadableByteChannel channel = current;
        if (channel != null) {
            channel.close();
        }
    }
}
