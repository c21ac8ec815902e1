package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.ShardRows;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/** Some rows of an array: of what lies in files only those are read; what has to be unpacked is unpacked up to them. */
public final class ShardData implements ArrayData {
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

    /** Returns the rows of an array that a shard has; all of an array that has no rows. Refuses what cannot be cut. */
    public static SourceArray of(SourceArray array, ShardRows shard) {
        long[] shape = array.shape();
        requireRows(array, shape);
        if (shape.length == 0) {
            return array;
        }
        long total = shape[0];
        long rowBytes = total == 0 ? 0 : array.byteSize() / total;
        shape[0] = shard.rows(total);
        return new SourceArray(
                array.name(),
                NpyHeader.of(array.dtype(), array.order(), shape),
                new ShardData(array.data(), shard.first(total) * rowBytes, shape[0] * rowBytes),
                array.files(),
                array.part());
    }

    private static void requireRows(SourceArray array, long[] shape) {
        boolean isColumn = array.part() != ColumnPart.NONE;
        if (isColumn || (array.order() == Order.F && shape.length > 1)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "an array cannot be cut into shards")
                    .with("array", array.name())
                    .with("file", array.file())
                    .with(
                            "reason",
                            isColumn ? "it is part of a column" : "its rows do not follow each other (Fortran order)")
                    .remedy(
                            isColumn
                                    ? "load this dataset as whole"
                                    : "save it in C order, numpy.ascontiguousarray(a), or load this dataset as whole");
        }
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
                if (!isThere) {
                    in.skipNBytes(first);
                    isThere = true;
                }
                if (left == 0) {
                    return -1;
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
