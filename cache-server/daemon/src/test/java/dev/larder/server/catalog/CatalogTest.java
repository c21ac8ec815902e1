package dev.larder.server.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import net.openhft.chronicle.map.ChronicleMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
class CatalogTest {
    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void name() {
        file = folder.resolve("catalog.chm");
    }

    private static CatalogEntry entry(String dataset, long version) {
        return new CatalogEntry(dataset, version, 200 + version);
    }

    @Test
    void entriesOfACleanStopAreTakenOnce() {
        List<CatalogEntry> entries = List.of(entry("mnist", 1), entry("mnist", 2), entry("größe", 1));
        Catalog.write(file, entries);

        assertThat(Catalog.take(file, true)).containsExactlyInAnyOrderElementsOf(entries);
        assertThat(file).doesNotExist();
        assertThat(Catalog.take(file, true)).isEmpty();
    }

    @Test
    void aFileIsRemovedUnreadAfterAnUncleanStop() {
        Catalog.write(file, List.of(entry("mnist", 1)));

        assertThat(Catalog.take(file, false)).isEmpty();
        assertThat(file).doesNotExist();
    }

    @Test
    void aFileOfAnEarlierStopIsReplaced() {
        Catalog.write(file, List.of(entry("earlier", 1)));

        Catalog.write(file, List.of(entry("later", 1)));

        assertThat(Catalog.take(file, true)).containsExactly(entry("later", 1));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 100, 20_000})
    void anyNumberOfTheLongestNamesFits(int count) {
        List<CatalogEntry> entries = IntStream.range(0, count)
                .mapToObj(version -> entry("d".repeat(255), version))
                .toList();

        Catalog.write(file, entries);

        List<CatalogEntry> found = Catalog.take(file, true);
        assertThat(found).hasSameSizeAs(entries);
        assertThat(Set.copyOf(found)).isEqualTo(Set.copyOf(entries));
    }

    @Test
    void oneLongNameFitsAmongManyShortOnes() {
        List<CatalogEntry> entries = IntStream.range(0, 100)
                .mapToObj(i -> entry(i == 50 ? "d".repeat(255) : "d" + i, i))
                .toList();

        Catalog.write(file, entries);

        assertThat(Catalog.take(file, true)).containsExactlyInAnyOrderElementsOf(entries);
    }

    @Test
    void aFileThatIsCutShortOrBlankIsRemovedAtOnce() throws IOException {
        for (byte[] content : List.of(
                new byte[0], new byte[100_000], "no catalog".getBytes(StandardCharsets.UTF_8), new byte[] {1, 2, 3})) {
            Files.write(file, content);

            assertThat(Catalog.take(file, true)).isEmpty();
            assertThat(file).doesNotExist();
        }
    }

    @Test
    void aFileDamagedBehindItsHeaderIsRemovedAtOnce() throws IOException {
        Catalog.write(file, List.of(entry("mnist", 1)));
        byte[] whole = Files.readAllBytes(file);

        Files.write(file, Arrays.copyOf(whole, 3_000));
        assertThat(Catalog.take(file, true)).isEmpty();
        Arrays.fill(whole, 100, 1_000, (byte) 'x');
        Files.write(file, whole);
        assertThat(Catalog.take(file, true)).isEmpty();
        assertThat(file).doesNotExist();
    }

    @Test
    void onlyTheOwnerCanReadTheFileAndItTakesLittleSpace() throws IOException {
        Catalog.write(file, List.of(entry("mnist", 1)));

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(Files.size(file)).isLessThan(64 << 10);
    }

    @Test
    void aFileOfAnEarlierReleaseIsRemoved() throws IOException {
        try (ChronicleMap<String, byte[]> earlier = ChronicleMap.of(String.class, byte[].class)
                .name("larder-catalog")
                .entries(16_384)
                .averageKeySize(32)
                .averageValueSize(512)
                .createPersistedTo(file.toFile())) {
            earlier.put("mnist/1", new byte[100]);
        }

        assertThat(Catalog.take(file, true)).isEmpty();
        assertThat(file).doesNotExist();
    }

    @Test
    void onAFullMountNothingIsLeftBehind() throws IOException {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=64k")) {
            Path full = tiny.folder().resolve("catalog.chm");
            Files.write(tiny.folder().resolve("filler"), new byte[60 << 10]);

            assertThatThrownBy(() -> Catalog.write(full, List.of(entry("mnist", 1))))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining("cannot write the catalog");
            assertThat(full).doesNotExist();
        }
    }

    @Test
    void nothingIsCompiledWhenACatalogIsWritten() throws ReflectiveOperationException {
        Catalog.write(file, List.of(entry("mnist", 1)));

        Class<?> generated = Class.forName("net.openhft.chronicle.hash.VanillaGlobalMutableState$$Native");
        assertThat(generated.getProtectionDomain().getCodeSource().getLocation())
                .isEqualTo(Catalog.class.getProtectionDomain().getCodeSource().getLocation());
    }
}
