package dev.larder.server.source;

import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Bytes of an array that are extents of files, one after the other. The copier copies them, or a version maps them. Takes no more memory than the
 * table of them. Thread-safe.
 */
public final class Extents implements ArrayData {
    private final List<Extent> list;
    private final @Nullable IntFunction<SourceIdentity> files;
    private final @Nullable Beginning beginning;
    private final boolean isOwn;
    private final Runnable onRelease;

    /**
     * The required beginning of files.
     *
     * @param fits returns whether the first bytes, which may be few, are good
     * @param require opens a file, and fails with a refusal if it is bad
     */
    private record Beginning(Predicate<ByteBuffer> fits, Consumer<Path> require) {}

    private Extents(
            List<Extent> list,
            @Nullable IntFunction<SourceIdentity> files,
            @Nullable Beginning beginning,
            boolean isOwn,
            Runnable onRelease) {
        this.list = list;
        this.files = files;
        this.beginning = beginning;
        this.isOwn = isOwn;
        this.onRelease = onRelease;
    }

    /** Returns a single extent. */
    public static Extents of(Extent only) {
        return new Extents(List.of(only), null, null, false, () -> {});
    }

    /** Returns the extents of a table, which has no empty ones. */
    public static Extents of(ExtentTable table) {
        return new Extents(table, table::file, null, false, () -> {});
    }

    /** Returns whole files. */
    public static Extents of(FileTable files) {
        return of(files, null);
    }

    /**
     * Returns whole files. The copier checks their beginning.
     *
     * @param fits returns whether the first bytes of a file, which may be few, are good
     * @param require opens a file, and fails with a refusal if it is bad
     */
    public static Extents of(FileTable files, Predicate<ByteBuffer> fits, Consumer<Path> require) {
        return of(files, new Beginning(fits, require));
    }

    private static Extents of(FileTable files, @Nullable Beginning beginning) {
        WholeFiles whole = new WholeFiles(files);
        return new Extents(whole, number -> files.get(whole.index(number)), beginning, false, () -> {});
    }

    /** Returns the extents of several arrays, one after the other; null if a format writes one of the arrays. */
    static @Nullable Extents joined(List<SourceArray> arrays) {
        ExtentTable table = new ExtentTable();
        for (SourceArray array : arrays) {
            if (!(array.data() instanceof Extents extents)) {
                return null;
            }
            for (int i = 0; i < extents.list.size(); i++) {
                Extent extent = extents.list.get(i);
                table.add(array.fileOf(i), extent.offset(), extent.byteSize());
            }
        }
        return of(table).releasing(() -> arrays.forEach(SourceArray::release));
    }

    /** Returns the same bytes in a file that was written for this load alone, so that the store may take the file. */
    public Extents own() {
        return new Extents(list, files, beginning, true, onRelease);
    }

    /** Returns whether the bytes are in a file that was written for this load alone. */
    public boolean isOwn() {
        return isOwn;
    }

    @Override
    public Extents releasing(Runnable action) {
        return new Extents(list, files, beginning, isOwn, () -> {
            onRelease.run();
            action.run();
        });
    }

    @Override
    public Extents cut(long first, long byteSize) {
        int from = 0;
        long before = 0;
        while (from < list.size() && before + list.get(from).byteSize() <= first) {
            before += list.get(from).byteSize();
            from++;
        }
        int to = from;
        long end = before;
        while (to < list.size() && end < first + byteSize) {
            end += list.get(to).byteSize();
            to++;
        }
        int start = from;
        IntFunction<SourceIdentity> all = files;
        return new Extents(
                new Cut(list.subList(from, to), first - before, end - first - byteSize),
                all == null ? null : number -> all.apply(start + number),
                beginning,
                isOwn,
                onRelease);
    }

    /** Extents without the first bytes of the first, and without the last bytes of the last. */
    private static final class Cut extends AbstractList<Extent> implements RandomAccess {
        private final List<Extent> touched;
        private final long skipped;
        private final long surplus;

        Cut(List<Extent> touched, long skipped, long surplus) {
            this.touched = touched;
            this.skipped = skipped;
            this.surplus = surplus;
        }

        @Override
        public Extent get(int index) {
            Extent extent = touched.get(index);
            long before = index == 0 ? skipped : 0;
            long behind = index == touched.size() - 1 ? surplus : 0;
            return before == 0 && behind == 0
                    ? extent
                    : new Extent(extent.file(), extent.offset() + before, extent.byteSize() - before - behind);
        }

        @Override
        public int size() {
            return touched.size();
        }
    }

    /** The bytes of those files that have any. */
    private static final class WholeFiles extends AbstractList<Extent> implements RandomAccess {
        private final FileTable table;
        private final int @Nullable [] filled;

        WholeFiles(FileTable table) {
            this.table = table;
            int[] indexes = IntStream.range(0, table.size())
                    .filter(i -> table.byteSize(i) > 0)
                    .toArray();
            this.filled = indexes.length == table.size() ? null : indexes;
        }

        int index(int number) {
            return filled == null ? number : filled[number];
        }

        @Override
        public Extent get(int number) {
            return table.region(index(number));
        }

        @Override
        public int size() {
            return filled == null ? table.size() : filled.length;
        }
    }

    /** Returns all extents, in the order of their bytes; there may be millions. */
    List<Extent> list() {
        return list;
    }

    /** Returns the file of an extent as it was when it was scanned; null if it is that of the array. */
    @Nullable
    SourceIdentity file(int number) {
        return files == null || number >= list.size() ? null : files.apply(number);
    }

    /**
     * Fails with a refusal if the file of an extent has a bad beginning. A scan may leave this check to the copier.
     *
     * @param first the first bytes of the extent, at least one
     */
    void requireBeginning(int number, ByteBuffer first) {
        if (beginning != null && !beginning.fits.test(first)) {
            beginning.require.accept(list.get(number).file());
        }
    }

    @Override
    public ReadableByteChannel open() {
        return new JoinedChannel(IntStream.range(0, list.size()).mapToObj(number -> {
            Extent extent = list.get(number);
            return () -> new DataChannel(
                    extent, "", new ExtentStream(extent.openFile(), extent.offset(), extent.byteSize()));
        }));
    }

    @Override
    public void release() {
        onRelease.run();
    }
}
