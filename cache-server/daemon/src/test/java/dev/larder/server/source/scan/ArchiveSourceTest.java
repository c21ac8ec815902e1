package dev.larder.server.source.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.npy.Numpy;
import dev.larder.npy.Order;
import dev.larder.server.source.Extent;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Archives that other programs wrote, member by member. */
class ArchiveSourceTest {
    private static final String MAKE = """
            import sys, io, zipfile
            import numpy as np
            kind, path = sys.argv[1:]
            rng = np.random.RandomState(1)
            arrays = {
                "plain": rng.rand(300, 7).astype("<f4"),
                "größe": np.asfortranarray(rng.randint(0, 9, (5, 4)).astype(">i2")),
                "sub/日本": np.array(["a", "日本"]),
                "scalar": np.float64(2.5),
                "empty": np.zeros((0, 3), "|u1"),
                "record": np.zeros(3, [("a", "<f4"), ("b", "|S3")]),
            }
            {"savez": np.savez, "savez_compressed": np.savez_compressed}[kind](path, **arrays)
            for name, a in arrays.items():
                a = np.asarray(a)
                print(name, np.lib.format.dtype_to_descr(a.dtype), list(a.shape), a.tobytes("A").hex(), sep="\\t")
            """;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"savez", "savez_compressed"})
    void everyMemberOfWhatNumpyWritesIsAnArray(String how) throws Exception {
        Path file = folder.resolve("x.npz");
        String expected = Numpy.run(MAKE, how, file.toString());

        List<SourceArray> arrays =
                ScannedSource.scan("set", file, SourceOptions.none()).arrays();

        TreeMap<String, String> lines = new TreeMap<>();
        for (SourceArray array : arrays) {
            lines.put(array.name().array(), line(array));
        }
        assertThat(lines.values())
                .containsExactlyElementsOf(expected.lines().sorted().toList());
        assertThat(arrays).anySatisfy(array -> assertThat(array.order()).isEqualTo(Order.F));
        assertThat(arrays).allSatisfy(array -> assertThat(array.extents()).hasSize(how.equals("savez") ? 1 : 0));
    }

    private static String line(SourceArray array) throws Exception {
        String shape = java.util.Arrays.toString(array.shape());
        return String.join(
                "\t",
                array.name().array(),
                array.dtype().descr(),
                shape,
                HexFormat.of().formatHex(SourceFiles.data(array)));
    }

    @Test
    void anArchiveInAFolderGivesItsNameToItsMembers() throws Exception {
        Numpy.run(MAKE, "savez", folder.resolve("x.npz").toString());
        SourceFiles.npy(folder.resolve("y.npy"), "<f4", 2);

        assertThat(ScannedSource.scan("set", folder, SourceOptions.none()).arrays())
                .extracting(array -> array.name().array())
                .contains("y", "x/plain", "x/sub/日本");
    }

    @Test
    void keysChooseAmongMembers() throws Exception {
        Numpy.run(
                "import numpy as np, sys; np.savez(sys.argv[1], a_rgb=1, b_rgb=2, a_depth=3)",
                folder.resolve("x.npz").toString());

        assertThat(ScannedSource.scan("set", folder.resolve("x.npz"), new SourceOptions(List.of("rgb")))
                        .arrays())
                .extracting(array -> array.name().array())
                .containsExactly("a_rgb", "b_rgb");
    }

    private static final String ODD = "import numpy as np, sys; np.savez(sys.argv[1], **{'b': np.arange(2, dtype='i4'),"
            + " 'a_b': np.zeros(3, 'i4'), 'odd name': np.ones(1, 'i4'), 'o': np.array([1, 'a'], dtype=object)})";

    @Test
    void aMemberThatIsNotAskedForBlocksNoOther() throws Exception {
        Path file = folder.resolve("x.npz");
        Numpy.run(ODD, file.toString());

        assertThat(names(file, "b")).containsExactly("b");
        assertThat(names(file, "odd_name", "b")).containsExactly("b", "odd_name");
        assertThat(names(folder, "b")).containsExactly("x/b");
        assertThatThrownBy(() -> names(file)).hasMessageContaining("or choose other arrays of the file with --columns");
        assertThatThrownBy(() -> names(file, "b", "nope"))
                .hasMessageContaining("it has no columns [nope], but [b, a_b, odd_name, o]");
        assertThatThrownBy(() -> names(folder, "b", "nope")).hasMessageContaining("it has no columns [nope]");
        assertThatThrownBy(() -> names(folder, "od_name"))
                .hasMessageContaining(
                        "it has no columns [od_name], but [a_b, b, o, odd_name]; did you mean odd_name? ");
    }

    @Test
    void filesOfScenesAndMembersOfAFileAreChosenTogether() throws Exception {
        Numpy.run(ODD, folder.resolve("x.npz").toString());
        SourceFiles.npy(folder.resolve("s0_rgb.npy"), "<f4", 2);
        SourceFiles.npy(folder.resolve("s1_rgb.npy"), "<f4", 2);

        assertThat(names(folder, "rgb", "b")).containsExactly("s0_rgb", "s1_rgb", "x/b");
        SourceFiles.npy(folder.resolve("s1_depth.npy"), "<f4", 2);
        assertThatThrownBy(() -> names(folder, "rgb", "b", "depth")).hasMessageContaining("missing=[s0_depth]");
    }

    @Test
    void aTensorOfAnUnknownTypeBlocksNoOther() {
        byte[] content = SourceFiles.safetensors(
                "{\"a b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                        + "\"packed\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[2,4]}}",
                4);
        Path file = SourceFiles.write(folder.resolve("m.safetensors"), content);

        assertThat(names(file, "a_b")).containsExactly("a_b");
        assertThatThrownBy(() -> names(file))
                .hasMessageContaining("tensor packed: its dtype F4 is unknown")
                .hasMessageContaining("or choose other arrays of the file with --columns");
    }

    private static List<String> names(Path source, String... columns) {
        return ScannedSource.scan("set", source, new SourceOptions(List.of(columns))).arrays().stream()
                .map(array -> array.name().array())
                .toList();
    }

    @Test
    void aGzippedNpyFileIsItsArray() throws Exception {
        Path plain = SourceFiles.npy(folder.resolve("x.npy"), ">f8", 50, 3);
        Path packed = SourceFiles.write(
                folder.resolve("packed/x.npy.gz"), SourceFiles.gzip(java.nio.file.Files.readAllBytes(plain)));

        SourceArray array =
                ScannedSource.scan("set", packed, SourceOptions.none()).arrays().get(0);

        assertThat(array.name()).hasToString("set/x");
        assertThat(array.dtype()).hasToString(">f8");
        assertThat(SourceFiles.data(array)).isEqualTo(SourceFiles.counting(1200));
        assertThat(array.extents()).isEmpty();
    }

    @Test
    void everyTensorOfASafetensorsFileIsAnArray() throws Exception {
        String header = "{\"__metadata__\":{\"format\":\"pt\"},"
                + "\"w.0.weight\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[4,28]},"
                + "\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[0,4]},"
                + "\"none\":{\"dtype\":\"I64\",\"shape\":[0],\"data_offsets\":[28,28]},"
                + "\"q\":{\"dtype\":\"F8_E4M3\",\"shape\":[],\"data_offsets\":[28,29]}}   ";
        Path file = SourceFiles.write(folder.resolve("m.safetensors"), SourceFiles.safetensors(header, 29));

        List<SourceArray> arrays =
                ScannedSource.scan("set", file, SourceOptions.none()).arrays();

        assertThat(arrays)
                .extracting(array -> array.name().array() + " " + array.dtype() + " " + array.byteSize())
                .containsExactly("b <u2 4", "none <i8 0", "q |u1 1", "w.0.weight <f4 24");
        assertThat(SourceFiles.data(arrays.get(3)))
                .isEqualTo(java.util.Arrays.copyOfRange(SourceFiles.counting(29), 4, 28));
        assertThat(arrays.get(3).extents())
                .containsExactly(new Extent(file, 8 + header.getBytes(StandardCharsets.UTF_8).length + 4, 24));
    }
}
