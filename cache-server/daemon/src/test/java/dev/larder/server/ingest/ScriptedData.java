package dev.larder.server.ingest;

import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.Extent;
import dev.larder.server.source.ExtentTable;
import dev.larder.server.source.Extents;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Data that does what a test wants when it is read. */
interface ScriptedData {
    /** Each array for itself. */
    PackRule NOT_PACKED = new PackRule(0, 1, 1);

    /** Puts some bytes, or misbehaves. */
    int read(ByteBuffer target) throws IOException;

    /** Makes an array of it, that pretends to come from a file. */
    static SourceArray stream(String name, long byteSize, Path file, ScriptedData data) {
        return array(name, byteSize, List.of(SourceIdentity.of(file)), new ArrayData() {
            @Override
            public ReadableByteChannel open() {
                return new Channel(data);
            }
        });
    }

    /** Makes an array of stretches of files. */
    static SourceArray regions(String name, List<Extent> regions) {
        long byteSize = regions.stream().mapToLong(Extent::byteSize).sum();
        ExtentTable table = new ExtentTable();
        Map<Path, SourceIdentity> files = new LinkedHashMap<>();
        regions.forEach(region -> files.computeIfAbsent(region.file(), SourceIdentity::of));
        regions.forEach(region ->
                table.add(Objects.requireNonNull(files.get(region.file())), region.offset(), region.byteSize()));
        return array(name, byteSize, List.copyOf(files.values()), Extents.of(table));
    }

    private static SourceArray array(String name, long byteSize, List<SourceIdentity> files, ArrayData data) {
        NpyHeader header = NpyHeader.of(Dtype.parse("|u1"), Order.C, byteSize);
        return new SourceArray(new ArrayName("d", name), header, data, files, ColumnPart.NONE);
    }

    /** A channel over it. */
    record Channel(ScriptedData data) implements ReadableByteChannel {
        @Override
        public int read(ByteBuffer target) throws IOException {
            return data.read(target);
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
            // holds nothing
        }
    }
}
