package dev.larder.server.source.shard;

import dev.larder.server.source.ArrayData;
import dev.larder.server.source.FileRegion;
import dev.larder.server.source.SourceIdentity;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/** Some bytes of an array, such as those of its rows: of what lies in files only those are read; what has to be unpacked is unpacked up to them. */
final class ShardData implements ArrayData {
    private final ArrayData whole;
    private final long first;
    private final long byteSize;
    private final List<FileRegion> regions;
    private final int firstRegion;

    private ShardData(ArrayData whole, long first, long byteSize) {
        this.whole = whole;
        this.first = first;
        this.byteSize = byteSize;
        List<FileRegion> all = whole.regions();
        int from = 0;
        long before = 0;
        while (from < all.size() && before + all.get(from).byteSize() <= first) {
            before += all.get(from).byteSize();
            from++;
        }
        int to = from;
        long end = before;
        while (to < all.size() && end < first + byteSize) {
            end += all.get(to).byteSize();
            to++;
        }
        this.firstRegion = from;
        this.regions = all.isEmpty() ? List.of() : new Cut(all.subList(from, to), first - before, byteSize);
    }

    /** Returns some bytes of data. */
    static ArrayData of(ArrayData whole, long first, long byteSize) {
        return new ShardData(whole, first, byteSize);
    }

    /** Stretches of files without what is before and behind some bytes. */
    private static final class Cut extends AbstractList<FileRegion> implements RandomAccess {
        private final List<FileRegion> touched;
        private final long skipped;
        private final long surplus;

        Cut(List<FileRegion> touched, long skipped, long byteSize) {
            this.touched = touched;
            this.skipped = skipped;
            long all = 0;
            for (FileRegion region : touched) {
                all += region.byteSize();
            }
            this.surplus = all - skipped - byteSize;
        }

        @Override
        public FileRegion get(int index) {
            FileRegion region = touched.get(index);
            long before = index == 0 ? skipped : 0;
            long behind = index == touched.size() - 1 ? surplus : 0;
            return before == 0 && behind == 0
                    ? region
                    : new FileRegion(region.file(), region.offset() + before, region.byteSize() - before - behind);
        }

        @Override
        public int size() {
            return touched.size();
        }
    }

    @Override
    public List<FileRegion> regions() {
        return regions;
    }

    @Override
    public @Nullable SourceIdentity identityOf(int region) {
        return whole.identityOf(firstRegion + region);
    }

    @Override
    public void requireBeginning(int region, ByteBuffer beginning) {
        whole.requireBeginning(firstRegion + region, beginning);
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
