package dev.larder.server.residency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.protocol.LoadOptions;
import dev.larder.server.catalog.Catalog;
import dev.larder.server.catalog.CatalogEntry;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a catalog refuses costs that entry alone. */
@Timeout(60)
class CatalogSyncTest {
    private static final int TOO_MANY = 16_384;

    @TempDir
    Path folder;

    private final PublishedStore made = PublishedStore.withRoomFor(4);
    private final List<Throwable> errors = new ArrayList<>();

    @AfterEach
    void close() {
        made.close();
    }

    @Test
    void manyLongOriginsAreNoMatterForTheCatalog() {
        PublishedVersion wide = made.publish("wide", fromFiles(3_000));
        PublishedVersion plain = made.publish("plain", fromFiles(1));
        try (Catalog catalog = Catalog.open(folder.resolve("catalog.chm"), false, errors::add)) {
            CatalogSync sync = new CatalogSync(catalog, errors::add);

            sync.add(wide, 1);
            sync.add(plain, 2);

            assertThat(errors).isEmpty();
            assertThat(catalog.find("plain", plain.version())).isPresent();
            assertThat(catalog.find("wide", wide.version())).isPresent();
        }
    }

    @Test
    void aFullCatalogKeepsWhatItHas() {
        PublishedVersion known = made.publish("known", fromFiles(1));
        PublishedVersion late = made.publish("late", fromFiles(1));
        try (Catalog catalog = Catalog.open(folder.resolve("catalog.chm"), false, errors::add)) {
            CatalogSync sync = new CatalogSync(catalog, errors::add);
            sync.add(known, 1);
            IntStream.range(1, TOO_MANY).forEach(i -> catalog.put(new CatalogEntry("x" + i, 1, 0)));

            sync.add(late, 1);
            sync.touch(known, 99);

            assertThat(errors).hasSize(1).first().asString().contains("the catalog is full");
            assertThat(catalog.find("known", known.version()).orElseThrow().lastUseEpochMs())
                    .isEqualTo(99);
        }
    }

    @Test
    void aLastUseInTheFutureCountsAsNow() {
        PublishedVersion version = made.publish("known", fromFiles(1));
        try (Catalog catalog = Catalog.open(folder.resolve("catalog.chm"), false, errors::add)) {
            CatalogSync sync = new CatalogSync(catalog, errors::add);
            sync.add(version, 9_000);
            Usage usage = new Usage();

            sync.reconcile(List.of(version), usage, 5_000);

            assertThat(usage.lastUseMs(version)).isEqualTo(5_000);
        }
    }

    private static Provenance fromFiles(int count) {
        List<String> origins = IntStream.range(0, count)
                .mapToObj(i -> "/data/" + "long-folder-name/".repeat(10) + i + ".npy")
                .toList();
        return new Provenance(origins, LoadOptions.none(), List.of(), 0);
    }
}
