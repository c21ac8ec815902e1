package dev.larder.server.source.shard;

import dev.larder.server.source.ArrayData;
import dev.larder.server.source.Extents;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;

/** Some bytes of an array that a format writes, such as those of its rows: the format writes all bytes up to their end. */
final class ShardData implements ArrayData {
    private final ArrayData whole;
    private final long first;
    private final long byteSize;

    private ShardData(ArrayData whole, long first, long byteSize) {
        this.whole = whole;
        this.first = first;
        this.byteSize = byteSize;
    }

    /** Returns some bytes of data; extents of extents. */
    static ArrayData of(ArrayData whole, long first, long byteSize) {
        return whole instanceof Extents extents ? extents.cut(first, byteSize) : new ShardData(whole, first, byteSize);
    }

    @Override
    public ReadableByteChannel open() {
        return cut(whole.open());
    }

    @Override
    public ReadableByteChannel openForLastTime() {
        return cut(whole.openForLastTime());
    }

    private ReadableByteChannel cut(ReadableByteChannel channel) {
        return new ReadableByteChannel() {
            private final InputStream in = Channels.newInputStream(channel);
            private boolean isThere;
            private long left = byteSize;

            @Override
            public int read(ByteBuffer target) throws IOException {
                if (left == 0) {
                    return -1;
                }
                if (!isThere) {
                    in.skipNBytes(first);
                    isThere = true;
                }
                int limit = target.limit();
                target.limit(target.position() + (int) Math.min(left, target.remaining()));
                try {
                    int count = channel.read(target);
                    left -= Math.max(0, count);
                    return count;
                } finally {
                    target.limit(limit);
                }
            }

            @Override
            public boolean isOpen() {
                return channel.isOpen();
            }

            @Override
            public void close() throws IOException {
                channel.close();
            }
        };
    }

    @Override
    public void release() {
        whole.release();
    }
}
