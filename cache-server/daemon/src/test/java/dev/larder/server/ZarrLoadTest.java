package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.server.reader.ClassPathReaders;
import dev.larder.testing.InstalledReaders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Loads folders of Zarr by the reader in a process of its own. */
class ZarrLoadTest {
    private static final String METADATA = "{\"zarr_format\": 2, \"shape\": [4], \"chunks\": [2], \"dtype\": \"|u1\","
            + " \"compressor\": null, \"fill_value\": 9, \"filters\": null, \"order\": \"C\"}";

    @RegisterExtension
    final InstalledReaders readers = new InstalledReaders().with("zarr", ClassPathReaders.zarr());

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

    /** Writes an array of 1, 2 and two missing elements. */
    private static Path writeArray(Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve(".zarray"), METADATA);
        Files.write(folder.resolve("0"), new byte[] {1, 2});
        return folder;
    }

    private List<Integer> values(String dataset, String array) {
        try (Larder larder = Larder.connect(served.root());
                Dataset opened = larder.dataset(dataset)) {
            List<Integer> values = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                values.add(opened.array(array).getInt(i));
            }
            return values;
        }
    }

    @Test
    void eachTopmostFolderWithMetadataIsOneSourceWithItsGroupsAsLevels() throws IOException {
        Path group = sources.resolve("deep/one.zarr");
        writeArray(group.resolve("g/x"));
        Files.writeString(group.resolve(".zgroup"), "{\"zarr_format\": 2}");
        Files.writeString(group.resolve(".zattrs"), "{}");
        writeArray(sources.resolve("two.zarr"));

        served.load("all", sources);

        assertThat(served.control().info("all"))
                .extracting(ArrayRow::name)
                .containsExactlyInAnyOrder("all/deep/one/g/x", "all/two");
        assertThat(values("all", "deep/one/g/x")).containsExactly(1, 2, 9, 9);
    }

    @Test
    void aChunkThatIsWrittenLaterIsLoadedNextTime() throws IOException {
        Path array = writeArray(sources.resolve("later.zarr"));
        served.load("later", array);
        assertThat(values("later", "later")).containsExactly(1, 2, 9, 9);

        Files.write(array.resolve("1"), new byte[] {3, 4});
        served.load("later", array);

        assertThat(values("later", "later")).containsExactly(1, 2, 3, 4);
    }

    @Test
    void aChunkThatCannotBeReadIsNoMissingOne() throws IOException {
        Path array = writeArray(sources.resolve("broken.zarr"));
        Files.createSymbolicLink(array.resolve("1"), Path.of("gone"));

        assertThatThrownBy(() -> served.load("broken", array)).hasMessageContaining("file=" + array.resolve("1"));
    }

    @Test
    void metadataAloneIsNoSource() throws IOException {
        Path metadata = writeArray(sources.resolve("alone.zarr")).resolve(".zarray");

        assertThatThrownBy(() -> served.load("alone", metadata))
                .hasMessageContaining("it is the metadata of a Zarr folder, without the data")
                .hasMessageEndingWith("name the folder");
    }
}
