package dev.larder.server.source;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.Iterator;
import java.util.List;
import java.util.RandomAccess;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The data of several arrays or files, one after the other. */
public final class JoinedData implements ArrayData {
    private final List<ArrayData> parts;
    private final List<FileRegion> regions;
    private final @Nullable IntFunction<SourceIdentity> identities;
    private final @Nullable Beginning beginning;
    private final boolean ownsParts;

    /**
     * How files have to begin.
     *
     * @param fits whether first bytes, which may be few, show that
     * @param require looks at a file itself, and fails with a refusal
     */
    private record Beginning(Predicate<ByteBuffer> fits, Consumer<Path> require) {}

    /** Joins the data of arrays in their order. */
    public static JoinedData of(List<SourceArray> arrays) {
        List<ArrayData> parts = arrays.stream().map(SourceArray::data).toList();
        if (parts.stream().anyMatch(part -> part.regions().isEmpty())) {
            return new JoinedData(parts, List.of(), null, null, true);
        }
        RegionTable regions = new RegionTable();
        for (SourceArray array : arrays) {
            List<FileRegion> its = array.data().regions();
            for (int i = 0; i < its.size(); i++) {
                regions.add(array.identityOf(i), its.get(i).offset(), its.get(i).byteSize());
            }
        }
        return new JoinedData(parts, regions, regions::file, null, true);
    }

    private JoinedData(
            List<ArrayData> parts,
            List<FileRegion> regions,
            @Nullable IntFunction<SourceIdentity> identities,
            @Nullable Beginning beginning,
            boolean ownsParts) {
        this.parts = parts;
        this.regions = regions;
        this.identities = identities;
        this.beginning = beginning;
        this.ownsParts = ownsParts;
    }

    /** Joins stretches of files; keeps nothing but the table of them. */
    public static JoinedData of(RegionTable regions) {
        List<ArrayData> parts = new AbstractList<>() {
            @Override
            public ArrayData get(int index) {
                return new FileData(regions.get(index), false);
            }

            @Override
            public int size() {
                return regions.size();
            }
        };
        return new JoinedData(parts, regions, regions::file, null, false);
    }

    /** Joins whole files; keeps nothing but the table of them. */
    public static JoinedData of(FileTable files) {
        return of(files, null);
    }

    /**
     * Joins whole files whose beginning is checked when they are copied.
     *
     * @param fits whether the first bytes of a file, which may be few, show that it is good
     * @param require looks at a file itself, and fails with a refusal
     */
    public static JoinedData of(FileTable files, Predicate<ByteBuffer> fits, Consumer<Path> require) {
        return of(files, new Beginning(fits, require));
    }

    private static JoinedData of(FileTable files, @Nullable Beginning beginning) {
        RegionsOfFiles regions = new RegionsOfFiles(files);
        return new JoinedData(
                new AbstractList<>() {
                    @Override
                    public ArrayData get(int index) {
                        return new FileData(files.region(index), false);
                    }

                    @Override
                    public int size() {
                        return files.size();
                    }
                },
                regions,
                region -> files.get(regions.index(region)),
                beginning,
                false);
    }

    @Override
    public void requireBeginning(int region, ByteBuffer first) {
        if (beginning != null && !beginning.fits.test(first)) {
            beginning.require.accept(regions.get(region).file());
        }
    }

    @Override
    public @Nullable SourceIdentity identityOf(int region) {
        return identities == null || region >= regions.size() ? null : identities.apply(region);
    }

    /** The bytes of those files that have any. */
    private static final class RegionsOfFiles extends AbstractList<FileRegion> implements RandomAccess {
        private final FileTable table;
        private final int @Nullable [] filled;

        RegionsOfFiles(FileTable table) {
            this.table = table;
            boolean allFilled = IntStream.range(0, table.size()).allMatch(i -> table.byteSize(i) > 0);
            this.filled = allFilled
                    ? null
                    : IntStream.range(0, table.size())
                            .filter(i -> table.byteSize(i) > 0)
                            .toArray();
        }

        int index(int region) {
            return filled == null ? region : filled[region];
        }

        @Override
        public FileRegion get(int region) {
            return table.region(index(region));
        }

        @Override
        public int size() {
            return filled == null ? table.size() : filled.length;
        }
    }

    @Override
    public List<FileRegion> regions() {
        return regions;
    }

    @Override
    public ReadableByteChannel open() {
        return new Sequence(parts.iterator());
    }

    @Override
    public void release() {
        if (ownsParts) {
            parts.forEach(ArrayData::release);
        }
    }

    /** Opens a part when the one before has ended. */
    private static final class Sequence implements ReadableByteChannel {
        private final Iterator<ArrayData> rest;
        private @Nullable ReadableByteChannel current;
        private boolean open = true;

        Sequence(Iterator<ArrayData> rest) {
            this.rest = rest;
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            while (true) {
                ReadableByteChannel channel = current;
                if (channel == null) {
                    if (!rest.hasNext()) {
                        return -1;
                    }
                    channel = rest.next().open();
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
}
