package dev.larder.server.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What every catalog does, the real one and the one that other tests use. */
class CatalogContractTest {
    @TempDir
    static Path folder;

    private static int number;

    static Stream<Supplier<Catalog>> catalogs() {
        return Stream.of(Catalog::inMemory, () -> ChronicleCatalog.open(folder.resolve("catalog" + number++), false));
    }

    static CatalogEntry entry(String dataset, long version) {
        return new CatalogEntry(dataset, version, 200);
    }

    @ParameterizedTest
    @MethodSource("catalogs")
    void anEntryIsFoundAsItWasPut(Supplier<Catalog> opener) {
        try (Catalog catalog = opener.get()) {
            catalog.put(entry("mnist", 1));
            catalog.put(entry("größe", 1));

            assertThat(catalog.find("mnist", 1)).contains(entry("mnist", 1));
            assertThat(catalog.find("größe", 1)).contains(entry("größe", 1));
            assertThat(catalog.find("mnist", 2)).isEmpty();
            assertThat(catalog.find("mnis", 1)).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("catalogs")
    void versionsOfOneDatasetAreEntriesOfTheirOwn(Supplier<Catalog> opener) {
        try (Catalog catalog = opener.get()) {
            catalog.put(entry("mnist", 1));
            catalog.put(entry("mnist", 2));
            catalog.put(entry("mnist", 2).usedAt(7));

            assertThat(catalog.entries())
                    .containsExactlyInAnyOrder(
                            entry("mnist", 1), entry("mnist", 2).usedAt(7));
            assertThat(catalog.remove("mnist", 1)).isTrue();
            assertThat(catalog.remove("mnist", 1)).isFalse();
            assertThat(catalog.entries()).hasSize(1);
        }
    }

    @ParameterizedTest
    @MethodSource("catalogs")
    void aTouchChangesTheLastUseAndNothingElse(Supplier<Catalog> opener) {
        try (Catalog catalog = opener.get()) {
            catalog.put(entry("mnist", 1));

            assertThat(catalog.touch("mnist", 1, 999)).isTrue();
            assertThat(catalog.touch("other", 1, 999)).isFalse();
            assertThat(catalog.entries()).containsExactly(entry("mnist", 1).usedAt(999));
        }
    }
}
