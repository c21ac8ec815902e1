package dev.larder.readers.hdfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.server.Daemon;
import dev.larder.server.DaemonConfig;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Folders;
import dev.larder.testing.InstalledReaders;
import dev.larder.testing.LeavesNothingBehind;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Loads from HDFS of one name node and one data node. */
@Tag("slow")
class HdfsLoadTest {
    private static final int LARGE_BYTES = 20 << 20;

    @TempDir
    Path cluster;

    @RegisterExtension
    final InstalledReaders readers = new InstalledReaders()
            .with(
                    "hdfs",
                    List.of(
                            "schemes=hdfs",
                            "as=none",
                            InstalledReaders.classPath(
                                    ".*(hadoop-client-(api|runtime)|slf4j-api|commons-logging).*jar|.*[/-]hdfs/?(target/classes)?/?")));

    private final StoreLayout store = new StoreLayout(LeavesNothingBehind.newFolder());
    private ChildJvm server;
    private String root;
    private Daemon daemon;

    @BeforeEach
    void start() {
        server = ChildJvm.start(HdfsServer.class, cluster.toString());
        root = "hdfs://127.0.0.1:" + server.awaitLine(HdfsServer.PORT).substring(HdfsServer.PORT.length());
        daemon = Daemon.start(new DaemonConfig(store.root(), OptionalLong.empty(), 2));
    }

    @AfterEach
    void stop() {
        if (daemon != null) { // else it did not start
            daemon.stop(false);
        }
        if (server != null) {
            server.close();
        }
        Folders.remove(store.root());
    }

    /** Writes a file by a program of its own, as Hadoop's client leaves threads behind. */
    private void put(String path, int length, int first) {
        try (ChildJvm writer =
                ChildJvm.start(HdfsWriter.class, root, path, Integer.toString(length), Integer.toString(first))) {
            assertThat(writer.awaitExit()).isZero();
        }
    }

    private Done load(String address) {
        return ControlClient.at(store.root())
                .load(new LoadRequest(List.of(new LoadRequest.Source("d", address)), List.of(), 0), progress -> {});
    }

    @Test
    void aFolderIsFetchedAndAChangedFileIsNoticed() {
        put("/data/large.npy", LARGE_BYTES, 0);
        put("/data/in/small.npy", 100, 3);

        load(root + "/data");
        try (Larder larder = Larder.connect(store.root());
                Dataset dataset = larder.dataset("d")) {
            assertThat(dataset.array("large").getInt(LARGE_BYTES - 1)).isEqualTo((LARGE_BYTES - 1) % 251);
            assertThat(dataset.array("in/small").getInt(0)).isEqualTo(3);
        }
        assertThat(load(root + "/data").message()).contains("its sources look unchanged");
        put("/data/in/small.npy", 100, 4);
        assertThat(load(root + "/data").message()).contains("d has changed: version=2 replaces=1");
        assertThatThrownBy(() -> load(root + "/nothing"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("it is not there, for the user");
    }
}
