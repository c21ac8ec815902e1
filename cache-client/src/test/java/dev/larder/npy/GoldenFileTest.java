package dev.larder.npy;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class GoldenFileTest {
    private static final String COMPARE = """
            import sys, glob, os, warnings
            import numpy as np
            warnings.simplefilter("ignore")
            golden, ours = sys.argv[1:]
            names = sorted(os.listdir(ours))
            for name in names:
                a = np.load(os.path.join(golden, name), allow_pickle=False)
                b = np.load(os.path.join(ours, name), allow_pickle=False)
                assert a.dtype == b.dtype, (name, a.dtype, b.dtype)
                assert a.dtype.descr == b.dtype.descr, (name, a.dtype.descr, b.dtype.descr)
                assert a.shape == b.shape, (name, a.shape, b.shape)
                assert a.flags.f_contiguous == b.flags.f_contiguous, name
                assert a.tobytes("A") == b.tobytes("A"), name
                if a.nbytes:
                    m = np.load(os.path.join(ours, name), mmap_mode="r")
                    assert m.offset % 4096 == 192 and m.tobytes("A") == a.tobytes("A"), (name, m.offset)
            print(len(names))
            """;

    static List<GoldenFile> goldenFiles() {
        return GoldenFile.all();
    }

    static Stream<GoldenFile> filesByNumpy() {
        return GoldenFile.all().stream().filter(GoldenFile::byNumpy);
    }

    @ParameterizedTest
    @MethodSource("goldenFiles")
    void aHeaderReadsAsNumpyReadsIt(GoldenFile file) {
        NpyHeader header = read(file.content(), file.name());

        assertThat(header.dtype().descr()).isEqualTo(file.descr());
        assertThat(header.dtype().itemSize()).isEqualTo(file.itemSize());
        assertThat(header.shape())
                .containsExactly(file.shape().stream().mapToLong(n -> n).toArray());
        assertThat(header.dimensions()).isEqualTo(file.shape().size());
        assertThat(header.order()).isEqualTo(file.order());
        assertThat(header.byteSize()).isEqualTo(file.byteSize());
        assertThat(header.dataOffset()).isEqualTo(file.dataOffset());
        assertThat(header.version()).isEqualTo(file.version());
    }

    @ParameterizedTest
    @MethodSource("goldenFiles")
    void theTextOfADtypeReadsAsTheSameDtype(GoldenFile file) {
        NpyHeader header = read(file.content(), file.name());

        assertThat(Dtype.parse(header.dtype().descr())).isEqualTo(header.dtype());
    }

    @ParameterizedTest
    @MethodSource("filesByNumpy")
    void aHeaderIsWrittenAsNumpyWroteIt(GoldenFile file) {
        NpyHeader read = read(file.content(), file.name());

        NpyHeader ours = NpyHeader.of(read.dtype(), read.order(), read.shape());

        assertThat(literal(Bytes.of(ours.encode(64)), ours.version()))
                .isEqualTo(literal(file.content(), file.version()));
        assertThat(ours.version()).isLessThanOrEqualTo(file.version());
    }

    @Test
    void numpyOpensEveryFileThatWeWrite(@TempDir Path folder) throws Exception {
        Path golden = Files.createDirectory(folder.resolve("golden"));
        Path ours = Files.createDirectory(folder.resolve("ours"));
        for (GoldenFile file : GoldenFile.all()) {
            Files.write(golden.resolve(file.name()), file.content());
            Files.write(ours.resolve(file.name()), behindAPage(file));
        }

        String compared = Numpy.run(COMPARE, golden.toString(), ours.toString());

        assertThat(compared.trim()).isEqualTo(String.valueOf(GoldenFile.all().size()));
    }

    private static byte[] behindAPage(GoldenFile file) {
        NpyHeader read = read(file.content(), file.name());
        ByteBuffer header =
                NpyHeader.of(read.dtype(), read.order(), read.shape()).encode(4096, 192);
        byte[] content = file.content();
        int offset = (int) read.dataOffset();
        return ByteBuffer.allocate(header.limit() + content.length - offset)
                .put(header)
                .put(content, offset, content.length - offset)
                .array();
    }

    private static NpyHeader read(byte[] content, String name) {
        return Bytes.header(content, name);
    }

    private static String literal(byte[] content, int version) {
        int start = version == 1 ? 10 : 12;
        int end = start;
        while (content[end] != '\n') {
            end++;
        }
        Charset charset = version == 3 ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1;
        return new String(Arrays.copyOfRange(content, start, end), charset).stripTrailing();
    }
}
