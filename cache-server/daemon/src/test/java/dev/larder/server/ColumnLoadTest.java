package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.BytesColumn;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.client.RaggedColumn;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadOptions.As;
import dev.larder.internal.protocol.LoadRequest;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loads files as columns through a daemon and reads them with the client. */
class ColumnLoadTest {
    @TempDir
    Path folder;

    private ServedStore store;

    @BeforeEach
    void start() {
        store = ServedStore.create();
        store.start();
    }

    @AfterEach
    void stop() {
        store.close();
    }

    @Test
    void scenesAreReadByName() {
        for (int scene = 0; scene < 500; scene++) {
            int[] values = new int[scene % 7];
            Arrays.fill(values, scene);
            ServedStore.writeInts(folder.resolve("scene" + scene + "_feat.npy"), values);
        }
        load("scan", As.RAGGED, folder, "feat");

        try (Larder larder = Larder.connect(store.root());
                Dataset scan = larder.dataset("scan")) {
            RaggedColumn feat = scan.ragged("feat");
            for (int scene = 0; scene < 500; scene++) {
                long row = scan.index("scene").row("scene" + scene);
                assertThat(feat.shape(row)).containsExactly(scene % 7);
                for (int i = 0; i < scene % 7; i++) {
                    assertThat(feat.row(row).getInt(i * Integer.BYTES, ByteOrder.LITTLE_ENDIAN))
                            .isEqualTo(scene);
                }
            }
        }
    }

    @Test
    void filesAreReadByName() throws IOException {
        Files.createDirectories(folder.resolve("b"));
        Files.writeString(folder.resolve("a.txt"), "hello");
        Files.writeString(folder.resolve("b/c"), "");
        load("blob", As.BYTES, folder);

        try (Larder larder = Larder.connect(store.root());
                Dataset blob = larder.dataset("blob")) {
            BytesColumn files = blob.bytes("files");
            assertThat(files.row(blob.index("file").row("b/c")).capacity()).isZero();
            assertThat(files.row(blob.index("file").row("a.txt")).getStringWithoutLengthAscii(0, 5))
                    .isEqualTo("hello");
            assertThat(files.name(1)).isEqualTo("b/c");
        }
    }

    @Test
    void textsAndIndicesComeFromTables() throws IOException {
        Path file = Files.writeString(folder.resolve("t.tsv"), "scene\tpath\ns1\t/a\ns2\t/größe\n");
        load("text", As.STRINGS, file);
        load("keys", As.INDEX, file);

        try (Larder larder = Larder.connect(store.root());
                Dataset text = larder.dataset("text");
                Dataset keys = larder.dataset("keys")) {
            assertThat(text.strings("path").get(keys.index("scene").row("s2"))).isEqualTo("/größe");
            assertThat(text.columns()).hasSize(2);
        }
    }

    @Test
    void aRefusedLoadLeavesNothing() throws IOException {
        Path file = Files.writeString(folder.resolve("t.tsv"), "scene\ns1\ns1\n");

        assertThatThrownBy(() -> load("keys", As.INDEX, file)).hasMessageContaining("key=s1");
        store.requireNothingLeft();
    }

    private void load(String name, As as, Path path, String... keys) {
        LoadOptions options = LoadOptions.none().withAs(as).withKeys(List.of(keys));
        LoadRequest.Source source = new LoadRequest.Source(name, path.toString());
        store.control().load(new LoadRequest(List.of(source), options, 0), progress -> {});
    }
}
