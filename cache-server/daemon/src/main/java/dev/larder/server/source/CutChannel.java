package dev.larder.server.source;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

/** Reads some bytes of a channel. */
final class CutChannel extends BlockChannel {
    private static final int STEP_BYTES = 64 << 10;

    private final ReadableByteChannel channel;
    private long skipped;
    private long left;

    CutChannel(ReadableByteChannel channel, long first, long byteSize) {
        super(STEP_BYTES, channel);
        this.channel = channel;
        this.skipped = first;
        this.left = byteSize;
    }

    @Override
    protected void fill(ByteBuffer empty) throws IOException {
        int read = 0;
        while (left > 0 && skipped > 0 && read >= 0) {
            read = channel.read(empty.clear().limit((int) Math.min(skipped, STEP_BYTES)));
            skipped -= Math.max(0, read);
        }
        empty.clear().limit((int) Math.min(left, STEP_BYTES));
        while (left > 0 && empty.position() == 0 && read >= 0) {
            read = channel.read(empty);
        }
        left -= empty.position();
    }
}
