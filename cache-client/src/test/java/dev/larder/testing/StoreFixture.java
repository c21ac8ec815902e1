package dev.larder.testing;

import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.IndexWriter;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.npy.NpyHeader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32C;

/** A store in {@code /dev/shm}, or on a disk, with published versions but no daemon; removed when closed. */
public final class StoreFixture implements AutoCloseable {
    private final StoreLayout layout;
    private final Map<String, Long> versions = new HashMap<>();

    private StoreFixture(StoreLayout layout) {
        this.layout = layout;
    }

    public static StoreFixture create() {
        return create(LeavesNothingBehind.newStore());
    }

    /** Makes a store whose files may not be in memory. */
    public static StoreFixture createOnDisk() {
        return create(LeavesNothingBehind.newStoreOnDisk());
    }

    private static StoreFixture create(Path folder) {
        try {
            Path root = Files.createDirectory(folder);
            StoreLayout layout = new StoreLayout(root);
            Files.createDirectories(layout.data());
            return new StoreFixture(layout);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Path store() {
        return layout.root();
    }

    public StoreLayout layout() {
        return layout;
    }

    /** Publishes the next version of a dataset, and returns its number. */
    public long publish(String dataset, Map<String, FixtureArray> arrays) {
        return publish(dataset, arrays, StoreLayout::arrayFile);
    }

    /** Publishes the next version of a dataset with all arrays in one file, and returns its number. */
    public long publishPacked(String dataset, Map<String, FixtureArray> arrays) {
        return publish(dataset, arrays, array -> StoreLayout.packFile(0));
    }

    private long publish(String dataset, Map<String, FixtureArray> arrays, UnaryOperator<String> files) {
        long version = versions.merge(dataset, 1L, Long::sum);
        Path folder = layout.version(dataset, version);
        try {
            List<ArrayEntry> entries = new ArrayList<>();
            for (Map.Entry<String, FixtureArray> array : arrays.entrySet()) {
                entries.add(write(folder, files.apply(array.getKey()), array.getKey(), array.getValue()));
            }
            return publish(dataset, version, entries);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Publishes columns as their builders made them. */
    public long publish(String dataset, List<ColumnArray> columns) {
        Map<String, FixtureArray> arrays = new LinkedHashMap<>();
        columns.forEach(array -> arrays.put(array.name(), FixtureArray.of(array)));
        return publish(dataset, arrays);
    }

    /**
     * Publishes an array of any length whose file is a hole, and so takes hardly any memory, but for the bytes at some places of
     * its data. Its checksum is not computed.
     */
    public long publishSparse(String dataset, String array, NpyHeader header, Map<Long, byte[]> pieces) {
        long version = versions.merge(dataset, 1L, Long::sum);
        Path folder = layout.version(dataset, version);
        String file = StoreLayout.arrayFile(array);
        try {
            Files.createDirectories(folder);
            ByteBuffer head = StoreLayout.header(header);
            int offset = head.remaining();
            try (RandomAccessFile out =
                    new RandomAccessFile(folder.resolve(file).toFile(), "rw")) {
                out.setLength(offset + header.byteSize());
                out.getChannel().write(head, 0);
                for (Map.Entry<Long, byte[]> piece : pieces.entrySet()) {
                    out.getChannel().write(ByteBuffer.wrap(piece.getValue()), offset + piece.getKey());
                }
            }
            return publish(dataset, version, List.of(entry(array, header, file, offset, 0, ColumnPart.NONE)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long publish(String dataset, long version, List<ArrayEntry> entries) throws IOException {
        Path folder = layout.version(dataset, version);
        Map<String, Long> lengths = new HashMap<>();
        entries.forEach(entry -> lengths.merge(entry.file(), entry.offset() + entry.byteSize(), Math::max));
        Files.createDirectories(folder);
        Files.write(folder.resolve(StoreLayout.INDEX), IndexWriter.write(entries, lengths, version, 0));
        Files.createFile(folder.resolve(StoreLayout.LEASE));
        Path link = layout.dataset(dataset).resolve("next");
        Files.createSymbolicLink(link, Path.of(Long.toString(version)));
        Files.move(link, layout.current(dataset), StandardCopyOption.ATOMIC_MOVE);
        return version;
    }

    /** Appends an array to a file. */
    private static ArrayEntry write(Path folder, String file, String name, FixtureArray array) throws IOException {
        Path path = folder.resolve(file);
        Files.createDirectories(path.getParent());
        long offset;
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.position(ByteSums.roundUp(channel.size(), StoreLayout.ALIGNMENT));
            channel.write(StoreLayout.header(array.header()));
            offset = channel.position();
            channel.write(ByteBuffer.wrap(array.data()));
        }
        CRC32C crc = new CRC32C();
        crc.update(array.data());
        return entry(name, array.header(), file, offset, (int) crc.getValue(), array.part());
    }

    private static ArrayEntry entry(
            String name, NpyHeader header, String file, long offset, int crc32c, ColumnPart part) {
        return new ArrayEntry(
                name,
                header.dtype().descr(),
                header.order().name().charAt(0),
                header.shape(),
                file,
                offset,
                header.byteSize(),
                crc32c,
                part);
    }

    /** Unlinks a version as a daemon does: only if nobody leases it, and so that nobody can lease it meanwhile. */
    public boolean retire(String dataset, long version) {
        Posix posix = Posix.system();
        int descriptor = posix.openForReading(layout.version(dataset, version).resolve(StoreLayout.LEASE));
        try {
            boolean free = posix.tryLockExclusive(descriptor);
            if (free) {
                unlink(dataset, version);
            }
            return free;
        } finally {
            posix.close(descriptor);
        }
    }

    /** Unlinks a version, as a daemon that does not care about leases would. */
    public void unlink(String dataset, long version) {
        Folders.remove(layout.version(dataset, version));
    }

    @Override
    public void close() {
        Folders.remove(layout.root());
    }
}
