package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.server.reader.ClassPathReaders;
import dev.larder.testing.InstalledReaders;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Files that a reader unpacks and the daemon reads then, through a daemon. */
class PackedLoadTest {
    @TempDir
    Path folder;

    @RegisterExtension
    final InstalledReaders readers = new InstalledReaders().with("packed", ClassPathReaders.packed());

    @Test
    void whatIsUnpackedIsGivenUpWhenItIsStored() throws IOException, URISyntaxException {
        Path file = Path.of(Objects.requireNonNull(PackedLoadTest.class.getResource("/arrow/packed/numbers-file.arrow"))
                .toURI());
        Path damaged = Files.write(folder.resolve("x.tar.zst"), new byte[] {1, 2, 3});
        try (ServedStore served = ServedStore.create()) {
            served.start();
            served.load("d", file);

            try (Larder larder = Larder.connect(served.root());
                    Dataset d = larder.dataset("d")) {
                assertThat(d.array("f8").shape()).containsExactly(23);
            }
            assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
            assertThat(served.load("d", file).message()).contains("d is unchanged");
            assertThatThrownBy(() -> served.load("d", damaged))
                    .hasMessageContaining("x.tar.zst")
                    .hasMessageContaining("its packed data is corrupt");
            assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
        }
    }
}
