package dev.larder.readers.hdfs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.server.Daemon;
import dev.larder.server.DaemonConfig;
import dev.larder.testing.Folders;
import dev.larder.testing.InstalledReaders;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Lists a file system that is slower, in all, than a reader may be silent. */
@Tag("slow")
class HdfsListingTest {
    @RegisterExtension
    final InstalledReaders readers = new InstalledReaders().property("larder.reader.patience", "8s");

    private final StoreLayout store = new StoreLayout(LeavesNothingBehind.newFolder());
    private Daemon daemon;

    @BeforeEach
    void start() throws IOException {
        Path folder = Files.createDirectories(readers.folder("hdfs"));
        Files.writeString(
                folder.resolve("core-site.xml"),
                "<configuration><property><name>fs.hdfs.impl</name><value>" + SlowFiles.class.getName()
                        + "</value></property></configuration>");
        String classPath = InstalledReaders.classPath(
                ".*(hadoop-client-(api|runtime)|slf4j-api|commons-logging).*jar|.*[/-]hdfs/?(target/(test-)?classes)?/?");
        readers.install("hdfs", List.of("schemes=hdfs", "as=none", classPath + ":" + folder));
        daemon = Daemon.start(new DaemonConfig(store.root(), OptionalLong.empty(), 2));
    }

    @AfterEach
    void stop() {
        if (daemon != null) { // else it did not start
            daemon.stop(false);
        }
        Folders.remove(store.root());
    }

    @Test
    void aListingMayTakeLongWhileItMakesProgress() {
        LoadOptions options = LoadOptions.none().withAs(LoadOptions.As.BYTES);

        ControlClient.at(store.root())
                .load(
                        new LoadRequest(List.of(new LoadRequest.Source("d", "hdfs://slow/data")), options, 0),
                        progress -> {});

        try (Larder larder = Larder.connect(store.root());
                Dataset dataset = larder.dataset("d")) {
            assertThat(dataset.array("files/values").shape()[0])
                    .isEqualTo((long) SlowFiles.FOLDERS * SlowFiles.FILE_BYTES);
        }
    }
}
