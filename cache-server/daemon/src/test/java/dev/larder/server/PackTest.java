package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.npy.Numpy;
import dev.larder.testing.ChildJvm;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many small arrays through a daemon: they share a file, and are arrays like all others. */
class PackTest {
    private static final int ARRAYS = 200;

    @TempDir
    Path sources;

    private ServedStore served;

    @BeforeEach
    void start() {
        served = ServedStore.create();
        for (int i = 0; i < ARRAYS; i++) {
            ServedStore.writeInts(sources.resolve("scene" + i + ".npy"), i, i + 1, i * i);
        }
    }

    @AfterEach
    void stop() {
        served.close();
    }

    @Test
    void arraysOfAPackAreReadThroughOneMapping() throws IOException {
        served.start();
        served.load("set", sources);

        try (Larder larder = Larder.connect(served.root());
                Dataset set = larder.dataset("set")) {
            for (int i = 0; i < ARRAYS; i++) {
                ArrayView view = set.array("scene" + i);
                assertThat(new int[] {view.getInt(0), view.getInt(1), view.getInt(2)})
                        .containsExactly(i, i + 1, i * i);
                assertThat(view.address() % 64).isZero();
            }

            assertThat(mappingsOf("pack-")).hasSize(1);
        }
        assertThat(mappingsOf("pack-")).isEmpty();
    }

    @Test
    void aClosedArrayIsClosedAndItsNeighboursAreNot() {
        served.start();
        served.load("set", sources);

        try (Larder larder = Larder.connect(served.root());
                Dataset set = larder.dataset("set")) {
            OwnedArrayView closed = larder.open("set/scene7");
            ArrayView open = set.array("scene8");
            closed.close();

            assertThat(open.getInt(0)).isEqualTo(8);
            assertThat(set.array("scene7").getInt(0)).isEqualTo(7);
            assertThatThrownBy(() -> closed.getInt(0)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void theNumberOfMappingsStaysWhereAllArraysAreOpened() throws IOException {
        served.start();
        served.load("set", sources);
        try (Larder larder = Larder.connect(served.root());
                Dataset set = larder.dataset("set")) {
            long before = mappingsOf("").size();

            for (int i = 0; i < ARRAYS; i++) {
                assertThat(set.array("scene" + i).getInt(0)).isEqualTo(i);
            }

            assertThat(mappingsOf("").size() - before).isLessThan(64);
        }
    }

    @Test
    void stockNumpyReadsEachImageInThePack() {
        served.start();
        served.load("set", sources);
        List<ArrayRow> rows = served.control().info("set");

        String answer = Numpy.run(
                """
                import sys
                import numpy as np
                total = 0
                with open(sys.argv[1], "rb") as pack:
                    for offset in sys.argv[2].split(","):
                        pack.seek(int(offset) - 128)
                        total += int(np.load(pack).sum())
                print(total)
                """,
                rows.get(0).path(),
                String.join(",", rows.stream().map(row -> "" + row.offset()).toList()));

        long sum = 0;
        for (long i = 0; i < ARRAYS; i++) {
            sum += i + i + 1 + i * i;
        }
        assertThat(rows).extracting(ArrayRow::path).containsOnly(rows.get(0).path());
        assertThat(answer.trim()).isEqualTo(Long.toString(sum));
    }

    @Test
    void packsAreAdoptedAfterAKill() {
        ChildJvm daemon = served.startProcess();
        served.load("set", sources);
        daemon.kill();

        served.start();

        assertThat(served.control().info("set/scene9").get(0).offset()).isPositive();
        assertThat(served.control().verify("set", progress -> {}).files()).isEqualTo(ARRAYS);
    }

    @Test
    void aDamagedArrayInAPackIsNamed() throws IOException {
        served.start();
        served.load("set", sources);
        ArrayRow row = served.control().info("set/scene9").get(0);
        Files.setPosixFilePermissions(Path.of(row.path()), PosixFilePermissions.fromString("rw-------"));
        try (RandomAccessFile pack = new RandomAccessFile(row.path(), "rw")) {
            pack.seek(row.offset());
            pack.write(77);
        }

        assertThatThrownBy(() -> served.control().verify("set", progress -> {}))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CHECKSUM))
                .hasMessageContaining("count=1")
                .hasMessageContaining("set/scene9 ");
    }

    @Test
    void nothingIsPackedWhereTheUserSaysSo() {
        served.start();
        LoadOptions options = LoadOptions.none().withPackBelowBytes(0);
        LoadRequest.Source source = new LoadRequest.Source("set", sources.toString());

        served.control().load(new LoadRequest(List.of(source), options, 0), progress -> {});

        assertThat(ServedStore.entries(served.layout().version("set", 1)))
                .contains("scene0.npy", "scene199.npy")
                .doesNotContain("pack-0000");
    }

    @Test
    void anArrayInAFolderThatIsCalledLikeAPackHasItsPlace() {
        served.start();
        ServedStore.writeBytes(sources.resolve("pack-0000/large.npy"), 2 << 20);

        served.load("set", sources);

        assertThat(served.control().verify("set", progress -> {}).files()).isEqualTo(ARRAYS + 1);
        assertThat(ServedStore.entries(served.layout().version("set", 1))).contains("pack-0000", "@pack-0000");
    }

    private static List<String> mappingsOf(String part) throws IOException {
        List<String> mappings = new ArrayList<>(Files.readAllLines(Path.of("/proc/self/maps")));
        mappings.removeIf(line -> !line.contains(part));
        return mappings;
    }
}
