package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.npy.Numpy;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every kind of file that numpy writes, through a daemon, and read by stock numpy from where the daemon put it. */
class GoldenLoadTest {
    private static final String COMPARE = """
            import os
            import sys
            import warnings
            import numpy as np
            warnings.simplefilter("ignore") # of headers by other writers
            lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
            def image(path, offset): # in a pack: it begins with the last magic bytes before the data
                pack = open(path, "rb") # a true file: from others numpy does not read the padding of structures
                pack.seek(pack.read().rindex(b"\\x93NUMPY", 0, offset))
                return pack
            for line in lines:
                source, cached, offset = line.split("\\t")
                a = np.load(source, allow_pickle=False)
                packed = os.path.basename(cached).startswith("pack-")
                m = (np.load(image(cached, int(offset)), allow_pickle=False) if packed
                     else np.load(cached, mmap_mode="r") if a.size else np.load(cached, allow_pickle=False))
                assert a.dtype == m.dtype, (source, a.dtype, m.dtype)
                assert np.lib.format.dtype_to_descr(a.dtype) == np.lib.format.dtype_to_descr(m.dtype), source
                assert a.shape == m.shape, (source, a.shape, m.shape)
                assert a.flags.f_contiguous == m.flags.f_contiguous and a.flags.c_contiguous == m.flags.c_contiguous, source
                assert a.tobytes("A") == m.tobytes("A"), source
                assert int(offset) % 64 == 0, (source, offset)
                if a.size and not packed:
                    assert m.offset == int(offset) and m.offset % 4096 == 192, (source, m.offset)
                    assert not m.flags.writeable, source
            print(len(lines))
            """;

    @TempDir
    Path sources;

    private ServedStore served;

    @BeforeEach
    void start() {
        served = ServedStore.create();
        served.start();
    }

    @AfterEach
    void stop() {
        served.close();
    }

    @ParameterizedTest(name = "packBelowBytes={0}")
    @ValueSource(longs = {0, LoadOptions.PACK_AUTO})
    void everyGoldenFileIsByteEqualAndOfTheSameTypeInStockNumpy(long packBelowBytes) throws IOException {
        List<String> names = goldenNames();
        for (String name : names) {
            try (InputStream in = resource(name)) {
                Files.copy(in, sources.resolve(name));
            }
        }

        LoadRequest.Source source = new LoadRequest.Source("golden", sources.toString());
        LoadOptions options = LoadOptions.none().withPackBelowBytes(packBelowBytes);
        served.control().load(new LoadRequest(List.of(source), options, 0), progress -> {});

        List<ArrayRow> rows = served.control().list("golden/", false);
        List<String> lines = new ArrayList<>();
        rows.forEach(row -> lines.add(row.source() + "\t" + row.path() + "\t" + row.offset()));
        Path list = Files.write(sources.resolve("list.txt"), lines);
        assertThat(Numpy.run(COMPARE, list.toString()).trim()).isEqualTo(Integer.toString(names.size()));
        assertThat(served.control().verify("golden", progress -> {}).files()).isEqualTo(names.size());
    }

    @Test
    void numpyCannotOpenWhatIsPublishedForWriting() {
        served.load("d", ServedStore.writeInts(sources.resolve("a.npy"), 1, 2, 3));
        String path = served.control().list("d/", false).get(0).path();

        String answer = Numpy.run("""
                import sys
                import numpy as np
                m = np.load(sys.argv[1], mmap_mode="r")
                try:
                    m[0] = 9
                    print("written")
                except ValueError as refused:
                    print("refused", int(m.sum()))
                """, path);

        assertThat(answer.trim()).isEqualTo("refused 6");
    }

    private static List<String> goldenNames() throws IOException {
        try (InputStream in = resource("index.tsv")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.substring(0, line.indexOf('\t')))
                    .toList();
        }
    }

    private static InputStream resource(String name) {
        return Objects.requireNonNull(Numpy.class.getResourceAsStream("/npy/" + name), name);
    }
}
