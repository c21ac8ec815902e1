package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.npy.Numpy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Every kind of source through a daemon, read back by stock numpy. */
@Timeout(300)
class KindsLoadTest {
    private static final String MAKE = """
            import gzip, json, os, struct, sys
            import numpy as np
            folder = sys.argv[1]
            rng = np.random.RandomState(2)
            a = rng.randn(700, 300).astype("<f4")
            b = np.asfortranarray(rng.randint(0, 9, (40, 30)).astype(">i2"))
            np.savez(folder + "/stored.npz", a=a, b=b)
            np.savez_compressed(folder + "/deflated.npz", a=a, b=b)
            np.save(folder + "/b.npy", b)
            with gzip.open(folder + "/packed.npy.gz", "wb") as f:
                np.save(f, a)
            os.mkdir(folder + "/raw")
            a.tofile(folder + "/raw/a.bin")
            head = json.dumps({"a": {"dtype": "F32", "shape": list(a.shape), "data_offsets": [0, a.nbytes]}}).encode()
            with open(folder + "/m.safetensors", "wb") as f:
                f.write(struct.pack("<Q", len(head)) + head + a.tobytes())
            np.savetxt(folder + "/t.csv", a, "%.9g", ",", header=",".join("a%d" % i for i in range(300)), comments="")
            """;
    private static final String COMPARE = """
            import sys
            import numpy as np
            source = np.load(sys.argv[1] + "/stored.npz")
            for line in open(sys.argv[2], encoding="utf-8").read().splitlines():
                name, path, offset = line.split("\\t")
                m = np.load(path)
                expected = source[name.split("/")[-1].replace("packed", "a")]
                if name.startswith("d/t/"):
                    expected = expected.astype("<f8")
                    assert np.array_equal(m.astype("<f4"), source["a"]), name
                else:
                    assert np.array_equal(m, expected), name
                assert m.dtype == expected.dtype and m.shape == expected.shape, (name, m.dtype, m.shape)
            print("same")
            """;

    @TempDir
    private Path sources;

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

    @Test
    void everyKindGivesTheBytesThatNumpyWrote() throws IOException {
        Numpy.run(MAKE, sources.toString());
        LoadOptions raw = LoadOptions.none().withElements("float32", "-1,300");
        LoadRequest.Source folder = new LoadRequest.Source("d", sources.toString());

        served.control().load(new LoadRequest(List.of(folder), raw.withElements("", ""), 2), progress -> {});
        served.control()
                .load(
                        new LoadRequest(
                                List.of(new LoadRequest.Source(
                                        "raw", sources.resolve("raw").toString())),
                                raw,
                                2),
                        progress -> {});

        List<String> lines = new ArrayList<>();
        for (ArrayRow row : served.control().list("", false)) {
            lines.add(row.name() + "\t" + row.path() + "\t" + row.offset());
        }
        Path list = Files.write(Files.createTempFile("larder-kinds", ".txt"), lines, StandardCharsets.UTF_8);
        assertThat(lines).hasSize(9);
        assertThat(Numpy.run(COMPARE, sources.toString(), list.toString()).trim())
                .isEqualTo("same");
        Files.delete(list);
    }

    @Test
    void aBadFileAmongGoodOnesLeavesNothingAndTheDaemonGoesOn() throws IOException {
        Numpy.run(MAKE, sources.toString());
        byte[] content = Files.readAllBytes(sources.resolve("deflated.npz"));
        content[content.length / 3] ^= 0x10;
        Files.write(sources.resolve("deflated.npz"), content);

        assertThatThrownBy(() -> served.load("d", sources))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("deflated.npz");

        assertThat(served.control().list("", true)).isEmpty();
        served.requireNothingLeft();
        served.load("d", sources.resolve("stored.npz"));
        assertThat(served.control().list("d/", false)).hasSize(2);
    }

    @Tag("slow")
    @Test
    void aListOfManyPathsFitsIntoOneRequest() {
        List<LoadRequest.Source> list = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            Path file = ServedStore.writeInts(sources.resolve("a-rather-long-name-of-a-folder/n" + i + ".npy"), i);
            list.add(new LoadRequest.Source("d", file.toString()));
        }

        served.control().load(new LoadRequest(list, LoadOptions.none(), 2), progress -> {});

        assertThat(served.control().list("d/", false)).hasSize(3_000);
    }
}
