package dev.larder.server.source.shard;

import dev.larder.server.source.ArrayData;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;

/**
 * Offsets of some rows of a column, counted from the first of these.
 *
 * @param offsets as they are in the whole column, of eight bytes each
 * @param base what the first of them is there
 */
record RebasedOffsets(ArrayData offsets, long base) implements ArrayData {
    private static final int STEP_BYTES = 64 << 10;

    @Override
    public ReadableByteChannel open() {
        return new Rebasing(offsets.open());
    }

    @Override
    public ReadableByteChannel openForLastTime() {
        return new Rebasing(offsets.openForLastTime());
    }

    @Override
    public void release() {
        offsets.release();
    }

    private final class Rebasing implements ReadableByteChannel {
        private final ReadableByteChannel channel;
        private final ByteBuffer step =
                ByteBuffer.allocate(STEP_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);

        Rebasing(ReadableByteChannel channel) {
            this.channel = channel;
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            if (!step.hasRemaining() && !fill()) {
                return -1;
            }
            int count = Math.min(step.remaining(), target.remaining());
            target.put(step.slice(step.position(), count));
            step.position(step.position() + count);
            return count;
        }

        /** Reads whole numbers; false at the end. */
        private boolean fill() throws IOException {
            step.clear();
            while (step.position() == 0 || step.position() % Long.BYTES != 0) {
                if (channel.read(step) < 0) {
                    step.limit(0);
                    return false;
                }
            }
            step.flip();
            for (int at = 0; at < step.limit(); at += Long.BYTES) {
                step.putLong(at, step.getLong(at) - base);
            }
            return true;
        }

        @Override
        public boolean isOpen() {
            return channel.isOpen();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
