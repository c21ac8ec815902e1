package dev.larder.server.source.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.server.reader.ClassPathReaders;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.testing.InstalledReaders;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

/** What a reader unpacks and the daemon reads then: Arrow files with packed buffers ({@code make_packed.py}), archives in xz and zstd. */
class PackedScanTest {
    @TempDir
    Path folder;

    @RegisterExtension
    final InstalledReaders readers = new InstalledReaders().with("packed", ClassPathReaders.packed());

    private static Path packed(String name) {
        return ArrowScanTest.golden("packed").resolve(name + ".arrow");
    }

    private static ScannedSource scan(Path path, String... columns) {
        return ScannedSource.scan("d", path, new SourceOptions(List.of(columns)));
    }

    /** Returns the bytes of all arrays, and gives them up. */
    private static Map<String, byte[]> taken(ScannedSource source) throws IOException {
        Map<String, byte[]> bytes = new TreeMap<>();
        for (SourceArray array : source.arrays()) {
            bytes.put(array.name().array() + array.dtype() + Arrays.toString(array.shape()), SourceFiles.data(array));
        }
        SourceFiles.release(source);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "numbers-file",
                "columns-stream",
                "lists-file",
                "dictionaries-stream",
                "replaced",
                "nulls",
                "times"
            })
    void everyArrayIsThatOfTheFileWithoutPacking(String name) throws IOException {
        Map<String, byte[]> found = taken(scan(packed(name)));
        Map<String, byte[]> expected = taken(scan(ArrowScanTest.source(name)));

        assertThat(found).hasSameSizeAs(expected).isNotEmpty();
        expected.forEach(
                (array, bytes) -> assertThat(found.get(array)).as(array).isEqualTo(bytes));
    }

    @Test
    void onlyWhatIsWantedIsUnpackedAndWhatIsDamagedIsRefusedByItsName() throws IOException {
        byte[] bytes = Files.readAllBytes(packed("numbers-file"));
        byte[] frame = {0x04, 0x22, 0x4d, 0x18};
        int last = bytes.length - frame.length;
        while (!Arrays.equals(frame, 0, 4, bytes, last, last + 4)) {
            last--;
        }
        bytes[last] = 0; // of the last column
        Path file = Files.write(folder.resolve("x.feather"), bytes);

        assertThat(taken(scan(file, "i8", "bool"))).hasSize(2);
        assertThatThrownBy(() -> scan(file))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("x.feather offset=" + last)
                .hasMessageContaining("it is no LZ4 frame");
    }

    @Test
    void archivesInXzAndZstdAreReadLikePlainOnes() throws IOException {
        for (String name : List.of("plain/a.tar", "xz/a.tar.xz", "xz/b.txz", "zst/a.tar.zst")) {
            Path file = folder.resolve(name);
            Files.createDirectories(file.getParent());
            try (OutputStream out = Files.newOutputStream(file);
                    OutputStream packing = name.endsWith("xz")
                            ? new XZOutputStream(out, new LZMA2Options(0))
                            : name.endsWith("zst") ? new ZstdOutputStreamNoFinalizer(out) : out;
                    TarArchiveOutputStream tar = new TarArchiveOutputStream(packing)) {
                write(tar, name.startsWith("xz/b") ? 3 : 0);
            }
        }

        Map<String, byte[]> plain = taken(scan(folder.resolve("plain")));
        Map<String, byte[]> zst = taken(scan(folder.resolve("zst/a.tar.zst")));
        ScannedSource xz = scan(folder.resolve("xz"));

        assertThat(zst).hasSameSizeAs(plain).hasSizeGreaterThan(4);
        plain.forEach((array, bytes) -> assertThat(zst.get(array)).as(array).isEqualTo(bytes));
        assertThat(SourceFiles.longs(xz, "cls")).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
        assertThat(SourceFiles.data(SourceFiles.array(xz, "bin/values")))
                .startsWith(plain.get("bin/values|u1[6]"))
                .hasSize(12);
        SourceFiles.release(xz);
    }

    private static void write(TarArchiveOutputStream tar, int first) throws IOException {
        for (int i = first; i < first + 3; i++) {
            Map<String, byte[]> members = new TreeMap<>(Map.of(
                    "bin", new byte[] {(byte) i, 9}, "cls", String.valueOf(i).getBytes(StandardCharsets.UTF_8)));
            for (Map.Entry<String, byte[]> member : members.entrySet()) {
                TarArchiveEntry entry = new TarArchiveEntry("s" + i + "." + member.getKey());
                entry.setSize(member.getValue().length);
                tar.putArchiveEntry(entry);
                tar.write(member.getValue());
                tar.closeArchiveEntry();
            }
        }
    }
}
