package dev.larder.testing;

import dev.larder.layout.ArrayEntry;
import dev.larder.layout.IndexWriter;
import dev.larder.layout.StoreLayout;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/** A store in {@code /dev/shm} with published versions but no daemon; removed when closed. */
public final class StoreFixture implements AutoCloseable {
    private final StoreLayout layout;
    private final Map<String, Long> versions = new HashMap<>();

    private StoreFixture(StoreLayout layout) {
        this.layout = layout;
    }

    public static StoreFixture create() {
        try {
            Path root = Files.createDirectory(LeavesNothingBehind.newStore());
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
        long version = versions.merge(dataset, 1L, Long::sum);
        Path folder = layout.version(dataset, version);
        try {
            List<ArrayEntry> entries = new ArrayList<>();
            Map<String, Long> lengths = new HashMap<>();
            for (Map.Entry<String, FixtureArray> array : arrays.entrySet()) {
                ArrayEntry entry = write(folder, array.getKey(), array.getValue());
                entries.add(entry);
                lengths.put(entry.file(), entry.offset() + entry.byteSize());
            }
            byte[] index = IndexWriter.write(entries, lengths, version, 0);
            Files.write(folder.resolve(StoreLayout.INDEX), index);
            Files.createFile(folder.resolve(StoreLayout.LEASE));
            Path link = layout.dataset(dataset).resolve("next");
            Files.createSymbolicLink(link, Path.of(Long.toString(version)));
            Files.move(link, layout.current(dataset), StandardCopyOption.ATOMIC_MOVE);
            return version;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ArrayEntry write(Path folder, String name, FixtureArray array) throws IOException {
        String file = StoreLayout.arrayFile(name);
        Path path = folder.resolve(file);
        Files.createDirectories(path.getParent());
        ByteBuffer header = array.header().encode(StoreLayout.DATA_ALIGNMENT);
        int offset = header.remaining();
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            channel.write(header);
            channel.write(ByteBuffer.wrap(array.data()));
        }
        CRC32C crc = new CRC32C();
        crc.update(array.data());
        return new ArrayEntry(
                name,
                array.header().dtype().descr(),
                array.header().order().name().charAt(0),
                array.header().shape(),
                file,
                offset,
                array.data().length,
                (int) crc.getValue());
    }

    /** Unlinks a version, as a daemon that does not care about leases would. */
    public void unlink(String dataset, long version) {
        remove(layout.version(dataset, version));
    }

    private static void remove(Path root) {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        remove(layout.root());
    }
}
