package dev.larder.readers.packed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import dev.larder.reader.BadSource;
import dev.larder.reader.InputFile;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.testing.ReadArrays;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

/** Unpacks frames that pyarrow wrote ({@code make_packed.py} of the daemon's tests), and files that are packed here. */
class PackedReaderTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden");
    private static final int NUMBERS = 100_000;

    @TempDir
    Path folder;

    private static byte[] numbers() {
        ByteBuffer numbers = ByteBuffer.allocate(NUMBERS * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long i = 0; i < NUMBERS; i++) {
            numbers.putLong(i / 7);
        }
        return numbers.array();
    }

    private static byte[] read(List<Path> files, String as, String... stretches) throws IOException {
        List<InputFile> inputs =
                files.stream().map(file -> new InputFile(file, "")).toList();
        Map<String, ReadArrays.Read> found =
                ReadArrays.of(new PackedReader(), new ReadRequest(inputs, as, List.of(stretches), 2));
        assertThat(found).hasSize(files.size());
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (ReadArrays.Read array : found.values()) {
            all.write(array.bytes());
        }
        return all.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(strings = {"lz4", "zstd"})
    void framesOfPyarrowAreUnpacked(String codec) throws IOException {
        Path file = GOLDEN.resolve("numbers." + codec);
        long packed = Files.size(file);

        assertThat(read(List.of(file), "stretches", "0:" + codec + ":0:" + packed + ":" + NUMBERS * Long.BYTES))
                .isEqualTo(numbers());
        for (int wrong : new int[] {-1, 1}) {
            String stretch = "0:" + codec + ":0:" + packed + ":" + (NUMBERS * Long.BYTES + wrong);
            assertThatThrownBy(() -> read(List.of(file), "stretches", stretch))
                    .isInstanceOf(BadSource.class)
                    .hasMessageContaining("it unpacks to");
        }
    }

    @Test
    void stretchesOfFilesFollowEachOther() throws IOException {
        Path plain = Files.write(folder.resolve("plain"), new byte[] {1, 2, 3, 4, 5});
        Path packed = GOLDEN.resolve("numbers.lz4");
        String whole = "1:lz4:0:" + Files.size(packed) + ":" + NUMBERS * Long.BYTES;

        byte[] found = read(List.of(plain, packed), "stretches", "0:none:3:2:2", whole, "0:none:0:1:1", "0:none:0:0:0");

        assertThat(Arrays.copyOf(found, 3)).containsExactly(4, 5, 1);
        assertThat(Arrays.copyOfRange(found, 3, found.length)).isEqualTo(numbers());
        assertThatThrownBy(() -> read(List.of(plain), "stretches", "0:none:-3:2:2"))
                .hasMessageContaining("bad stretch");
    }

    private interface Packing {
        OutputStream to(OutputStream out) throws IOException;
    }

    private Path packed(String name, byte[] data, Packing packing) throws IOException {
        Path file = folder.resolve(name);
        try (OutputStream out = packing.to(Files.newOutputStream(file))) {
            out.write(data);
        }
        return file;
    }

    @Test
    void wholeFilesAreUnpackedByTheEndsOfTheirNames() throws IOException {
        byte[] noise = new byte[300_000];
        new Random(7).nextBytes(noise);
        Path xz = packed("a.tar.xz", noise, out -> new XZOutputStream(out, new LZMA2Options(1)));
        Path zst = packed("b.tar.zst", noise, ZstdOutputStreamNoFinalizer::new);
        byte[] twice = Files.readAllBytes(zst);
        Files.write(zst, twice, java.nio.file.StandardOpenOption.APPEND); // two frames are one file

        byte[] found = read(List.of(xz, zst), "files");

        assertThat(found).hasSize(3 * noise.length).startsWith(noise).endsWith(noise);
    }

    /** A damaged file gives other bytes where nothing proves them, or a refusal. */
    @ParameterizedTest
    @ValueSource(strings = {"lz4", "zstd", "xz"})
    void aDamagedFileIsARefusalAtMost(String codec) throws IOException {
        boolean isXz = codec.equals("xz");
        byte[] whole = Files.readAllBytes(
                isXz
                        ? packed("a.xz", numbers(), out -> new XZOutputStream(out, new LZMA2Options(0)))
                        : GOLDEN.resolve("numbers." + codec));
        Random random = new Random(20_261_123);
        int refused = 0;
        for (int round = 0; round < Integer.getInteger("larder.rounds", 20); round++) {
            if (round > 0 && round % 10_000 == 0) {
                System.err.println("damaged files of " + codec + ": rounds=" + round + " refused=" + refused);
            }
            byte[] damaged = Arrays.copyOf(whole, round % 4 == 0 ? random.nextInt(whole.length) : whole.length);
            for (int i = random.nextInt(4); i > 0 && damaged.length > 0; i--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            Path file = Files.write(folder.resolve("x.xz"), damaged);
            try {
                byte[] found = isXz
                        ? read(List.of(file), "files")
                        : read(
                                List.of(file),
                                "stretches",
                                "0:" + codec + ":0:" + damaged.length + ":" + NUMBERS * Long.BYTES);
                assertThat(found).hasSize(NUMBERS * Long.BYTES);
            } catch (BadSource e) {
                refused++;
            }
        }
        assertThat(refused).isPositive();
    }
}
