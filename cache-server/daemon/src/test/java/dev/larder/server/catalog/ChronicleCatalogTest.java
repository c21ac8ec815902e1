package dev.larder.server.catalog;

import static dev.larder.server.catalog.CatalogContractTest.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import net.openhft.chronicle.map.ChronicleMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class ChronicleCatalogTest {
    private static final int FULL = 16_384;

    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void name() {
        file = folder.resolve("catalog.chm");
    }

    @Test
    void entriesAreThereAfterACleanStop() {
        try (Catalog catalog = ChronicleCatalog.open(file, false)) {
            catalog.put(entry("mnist", 1));
        }

        try (Catalog again = ChronicleCatalog.open(file, true)) {
            assertThat(again.entries()).containsExactly(entry("mnist", 1));
        }
    }

    @Test
    void afterAnUncleanStopItIsEmpty() {
        try (Catalog catalog = ChronicleCatalog.open(file, false)) {
            catalog.put(entry("mnist", 1));
        }

        try (Catalog again = ChronicleCatalog.open(file, false)) {
            assertThat(again.entries()).isEmpty();
        }
    }

    @Test
    void aFileThatIsCutShortOrBlankIsReplacedAtOnce() throws IOException {
        for (byte[] content : List.of(
                new byte[0], new byte[100_000], "no catalog".getBytes(StandardCharsets.UTF_8), new byte[] {1, 2, 3})) {
            Files.write(file, content);

            try (Catalog catalog = ChronicleCatalog.open(file, true)) {
                assertThat(catalog.entries()).isEmpty();
                catalog.put(entry("mnist", 1));
                assertThat(catalog.entries()).hasSize(1);
            }
        }
    }

    @Test
    void aFileDamagedBehindItsHeaderIsReplacedAtOnce() throws IOException {
        ChronicleCatalog.open(file, false).close();
        byte[] whole = Files.readAllBytes(file);

        Files.write(file, Arrays.copyOf(whole, 3_000));
        try (Catalog catalog = ChronicleCatalog.open(file, true)) {
            assertThat(catalog.entries()).isEmpty();
        }
        Arrays.fill(whole, 100, 1_000, (byte) 'x');
        Files.write(file, whole);
        try (Catalog catalog = ChronicleCatalog.open(file, true)) {
            assertThat(catalog.entries()).isEmpty();
        }
    }

    @Test
    void onlyTheOwnerCanReadTheFileAndItTakesLittleSpace() throws IOException {
        try (Catalog catalog = ChronicleCatalog.open(file, false)) {
            catalog.put(entry("mnist", 1));
        }

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(Files.size(file)).isLessThan(32L << 20);
    }

    @Test
    void aCatalogFullOfTheLongestNamesFitsAndOneMoreIsRefused() {
        try (Catalog catalog = ChronicleCatalog.open(file, false)) {
            for (int version = 0; version < FULL; version++) {
                catalog.put(entry("d".repeat(255), version));
            }

            assertThat(catalog.entries()).hasSize(FULL);
            assertThatThrownBy(() -> catalog.put(entry("big", 1)))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE));
        }
    }

    @Test
    void whatAnEarlierReleaseWroteIsReplaced() throws IOException {
        try (ChronicleMap<String, byte[]> earlier = ChronicleMap.of(String.class, byte[].class)
                .name("larder-catalog")
                .entries(FULL)
                .averageKeySize(32)
                .averageValueSize(512)
                .createPersistedTo(file.toFile())) {
            earlier.put("mnist/1", new byte[100]);
        }

        try (Catalog catalog = ChronicleCatalog.open(file, true)) {
            assertThat(catalog.entries()).isEmpty();
            catalog.put(entry("mnist", 1));
            assertThat(catalog.entries()).hasSize(1);
        }
    }

    @Test
    void thousandsOfVersionsFit() {
        try (Catalog catalog = ChronicleCatalog.open(file, false)) {
            for (int version = 1; version <= 5_000; version++) {
                catalog.put(entry("dataset", version));
            }

            assertThat(catalog.entries()).hasSize(5_000);
            assertThat(catalog.find("dataset", 4_999)).contains(entry("dataset", 4_999));
        }
    }

    @Test
    void nothingIsCompiledWhenACatalogIsOpened() throws ReflectiveOperationException {
        ChronicleCatalog.open(file, false).close();

        Class<?> generated = Class.forName("net.openhft.chronicle.hash.VanillaGlobalMutableState$$Native");
        assertThat(generated.getProtectionDomain().getCodeSource().getLocation())
                .isEqualTo(Catalog.class.getProtectionDomain().getCodeSource().getLocation());
    }

    @Tag("slow")
    @Test
    void aDaemonKilledWhileItWritesLeavesACatalogThatIsReplacedQuickly() throws Exception {
        for (int round = 0; round < 3; round++) {
            Process writer = CatalogWriter.start(file);
            assertThat(writer.inputReader().lines().anyMatch("writing"::equals)).isTrue();
            writer.destroyForcibly();
            assertThat(writer.waitFor(60, TimeUnit.SECONDS)).isTrue();
            long start = System.nanoTime();

            try (Catalog catalog = ChronicleCatalog.open(file, false)) {
                assertThat(catalog.entries()).isEmpty();
                catalog.put(entry("mnist", 1));
                assertThat(catalog.entries()).hasSize(1);
            }
            assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start))
                    .isLessThan(5);
        }
    }
}
