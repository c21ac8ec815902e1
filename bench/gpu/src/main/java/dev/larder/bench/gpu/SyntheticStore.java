package dev.larder.bench.gpu;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.IndexWriter;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/** A store without a daemon, with arrays of noise, the same in every run. Closing removes it. */
final class SyntheticStore implements AutoCloseable {
    /** The name of the array in each dataset. */
    static final String ARRAY = "rows";

    /** The system property with the prefix of the folder's name, so that a script can remove it after a kill. */
    private static final String PREFIX_PROPERTY = "larder.check.prefix";

    private static final int PIECE_BYTES = 1 << 20;

    private final StoreLayout layout;
    private final Larder larder;

    private SyntheticStore(StoreLayout layout, Larder larder) {
        this.layout = layout;
        this.larder = larder;
    }

    /** Creates a store in its own folder in {@code parent}. */
    static SyntheticStore create(Path parent) throws IOException {
        Path root = Files.createTempDirectory(parent, System.getProperty(PREFIX_PROPERTY, "larder-gpu-check-"));
        StoreLayout layout = new StoreLayout(root);
        Files.createDirectories(layout.data());
        return new SyntheticStore(layout, Larder.connect(root));
    }

    Path path() {
        return layout.root();
    }

    /** Publishes an array of random bytes, and opens its dataset. */
    Dataset publish(String dataset, String descr, long... shape) throws IOException {
        NpyHeader header = NpyHeader.of(Dtype.parse(descr), Order.C, shape);
        Path folder = layout.version(dataset, 1);
        String file = StoreLayout.arrayFile(ARRAY);
        Files.createDirectories(folder);
        ByteBuffer head = StoreLayout.header(header);
        int offset = head.remaining();
        CRC32C crc = new CRC32C();
        try (FileChannel out =
                FileChannel.open(folder.resolve(file), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            out.write(head);
            writeNoise(out, header.byteSize(), crc);
        }
        ArrayEntry entry = new ArrayEntry(
                ARRAY, header.dtype().descr(), 'C', shape, file, offset, header.byteSize(), (int) crc.getValue());
        Files.write(
                folder.resolve(StoreLayout.INDEX),
                IndexWriter.write(List.of(entry), Map.of(file, offset + header.byteSize()), 1, 0));
        Files.createFile(folder.resolve(StoreLayout.LEASE));
        Files.createSymbolicLink(layout.current(dataset), Path.of("1"));
        return larder.dataset(dataset);
    }

    /** Publishes rows of {@code rowBytes} bytes, about {@code byteSize} bytes in total. */
    Dataset publishRows(String dataset, long byteSize, int rowBytes) throws IOException {
        return publish(dataset, "|u1", Math.max(1, byteSize / rowBytes), rowBytes);
    }

    private static void writeNoise(FileChannel out, long byteSize, CRC32C crc) throws IOException {
        SplittableRandom random = new SplittableRandom(byteSize);
        ByteBuffer piece = ByteBuffer.allocateDirect(PIECE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long done = 0; done < byteSize; done += PIECE_BYTES) {
            for (int at = 0; at < PIECE_BYTES; at += Long.BYTES) {
                piece.putLong(at, random.nextLong());
            }
            piece.position(0).limit((int) Math.min(PIECE_BYTES, byteSize - done));
            crc.update(piece.duplicate());
            while (piece.hasRemaining()) {
                out.write(piece);
            }
            piece.clear();
        }
    }

    /** Removes a closed dataset. */
    void remove(String dataset) {
        remove(layout.dataset(dataset));
    }

    private static void remove(Path root) {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        larder.close();
        remove(layout.root());
    }
}
