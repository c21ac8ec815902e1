package dev.larder.server.source.scan;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.error.Failure;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.ScratchFolders;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.testing.Rounds;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Arrow files and folders that were spoiled at random: each is read or refused, soon, and with little memory. {@code ops/test --long
 * spoiled} has more of them.
 */
class SpoiledArrowTest {
    private static final long SEED = 20_261_123;
    private static final long MOST_HEAP_BYTES = 48 << 20;
    private static final long MOST_BUILT_BYTES = 64 << 20;
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(20);

    /** As much of an array is read: a file may claim that it has any number of rows without bytes. */
    private static final int MOST_READ_BYTES = 1 << 20;

    private static final long[] EXTREMES = {
        0, 1, -1, 2, 7, 255, 4096, Integer.MAX_VALUE, Integer.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 40, -8
    };

    @TempDir
    Path folder;

    /** Memory that ends early. */
    private static final class LimitedMemory extends ColumnMemory {
        private long left = MOST_BUILT_BYTES;

        @Override
        public long allocate(long byteSize) {
            return ColumnMemory.anonymous().allocate(byteSize);
        }

        @Override
        public void populate(long address, long byteSize) {
            left -= byteSize;
            if (left < 0) {
                throw Failure.of(ErrorCode.NO_SPACE, "no more for this test").exception();
            }
        }

        @Override
        public void free(long address, long byteSize, long populatedBytes) {
            ColumnMemory.anonymous().free(address, byteSize, populatedBytes);
        }
    }

    @Test
    void eachIsReadOrRefusedSoonWithLittleMemory() throws IOException {
        Rounds rounds = Rounds.of("spoiled Arrow files", 400, SEED);
        List<String> names = ArrowScanTest.sources().stream()
                .filter(name -> Files.isRegularFile(ArrowScanTest.source(name)))
                .toList();
        for (int round = 0; round < rounds.count(); round++) {
            String name = names.get(rounds.random().nextInt(names.size()));
            byte[] spoiled = spoiled(Files.readAllBytes(ArrowScanTest.source(name)), rounds.random());
            Path file = SourceFiles.write(folder.resolve("x.arrow"), spoiled);
            check(file, name + " " + rounds + " round=" + round);
        }
    }

    @Test
    void eachSpoiledFolderIsReadOrRefused() throws IOException {
        Rounds rounds = Rounds.of("spoiled Hugging Face folders", 100, SEED);
        for (int round = 0; round < rounds.count(); round++) {
            Path saved = ArrowScanTest.golden(rounds.random().nextBoolean() ? "saved-split" : "cache");
            List<Path> files;
            try (var all = Files.list(saved)) {
                files = all.sorted().toList();
            }
            int which = rounds.random().nextInt(files.size());
            Path its = Files.createDirectories(folder.resolve("f" + round % 2));
            for (Path file : files) {
                byte[] content = Files.readAllBytes(file);
                Files.write(
                        its.resolve(file.getFileName()),
                        file.equals(files.get(which)) ? spoiled(content, rounds.random()) : content);
            }
            check(its, saved.getFileName() + "/" + files.get(which).getFileName() + " " + rounds + " round=" + round);
            for (Path file : files) {
                Files.delete(its.resolve(file.getFileName()));
            }
        }
    }

    /** The file claims a billion buffers, and that as many belong to the views of one column. */
    @Test
    void aNumberOfBuffersThatIsTooLargeForTheFileIsRefused() throws IOException {
        byte[] bytes = Files.readAllBytes(ArrowScanTest.source("viewed-stream"));
        int[] places = {352, 353, 355, 360, 361, 363, 364, 367, 569, 750, 752, 756};
        int[] values = {0, 12, 12, 2, 4, 20, 0, 88, 144, 2, 0, 0};
        for (int i = 0; i < places.length; i++) {
            bytes[places[i]] = (byte) values[i];
        }
        check(SourceFiles.write(folder.resolve("x.arrow"), bytes), "a billion buffers");
    }

    private static byte[] spoiled(byte[] good, Random random) {
        byte[] bytes = good.clone();
        ByteBuffer numbers = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = random.nextInt(4); i >= 0; i--) {
            int at = random.nextInt(bytes.length);
            switch (random.nextInt(5)) {
                case 0 -> bytes[at] = (byte) random.nextInt(256);
                case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 2 -> numbers.putInt(Math.min(at & -4, bytes.length - 4), (int) extreme(random));
                case 3 -> numbers.putLong(Math.min(at & -8, bytes.length - 8), extreme(random));
                default -> {
                    int from = random.nextInt(bytes.length);
                    int length = Math.min(random.nextInt(64), bytes.length - Math.max(from, at));
                    System.arraycopy(good, from, bytes, at, length);
                }
            }
        }
        return random.nextInt(8) > 0 ? bytes : Arrays.copyOf(bytes, random.nextInt(bytes.length));
    }

    private static long extreme(Random random) {
        return EXTREMES[random.nextInt(EXTREMES.length)];
    }

    private static void check(Path source, String what) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        long startNanos = System.nanoTime();
        ScanSettings settings = new ScanSettings(
                1, false, () -> false, checked -> {}, new LimitedMemory(), ScratchFolders.temporary(), false, null);
        try {
            ScannedSource found = ScannedSource.scan("d", source, SourceOptions.none(), settings);
            try {
                for (SourceArray array : found.arrays()) {
                    read(array);
                }
            } finally {
                SourceFiles.release(found);
            }
        } catch (LarderException e) {
            assertThat(e.code()).as(what + " " + e).isIn(ErrorCode.BAD_INPUT, ErrorCode.NO_SPACE);
        } catch (IOException | RuntimeException | Error e) {
            throw new AssertionError(what, e);
        }
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).as(what).isLessThan(MOST_HEAP_BYTES);
        assertThat(System.nanoTime() - startNanos).as(what).isLessThan(MOST_NANOS);
    }

    private static void read(SourceArray array) throws IOException {
        ByteBuffer some = ByteBuffer.allocate((int) Math.min(MOST_READ_BYTES, array.byteSize()));
        try (ReadableByteChannel data = array.open()) {
            while (some.hasRemaining()) {
                assertThat(data.read(some)).as(array.toString()).isNotNegative();
            }
            if (some.capacity() == array.byteSize()) {
                assertThat(data.read(ByteBuffer.allocate(1)))
                        .as(array.toString())
                        .isNegative();
            }
        }
    }
}
