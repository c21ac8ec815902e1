package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.store.CleanUp;
import dev.larder.testing.FashionMnist;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DaemonTest {

    @TempDir
    Path folder;

    private Path store;
    private Daemon daemon;
    private ControlClient control;

    @BeforeEach
    void start() {
        store = LeavesNothingBehind.newFolder();
        daemon = Daemon.start(new DaemonConfig(store, OptionalLong.empty(), 2));
        control = ControlClient.at(store);
    }

    @AfterEach
    void stop() {
        daemon.stop(false);
        assertThat(store).doesNotExist();
    }

    @Test
    void fashionMnistIsReadByAClientAsItsFilesSay() {
        Done done = load("mnist", FashionMnist.FOLDER);

        try (Larder larder = Larder.connect(store);
                Dataset mnist = larder.dataset("mnist")) {
            ArrayView images = mnist.array("train-images");
            assertThat(mnist.arrayNames())
                    .containsExactly("t10k-images", "t10k-labels", "train-images", "train-labels");
            assertThat(images.shape()).containsExactly(60_000, 28, 28);
            assertThat(mnist.array("train-labels").getInt(0)).isEqualTo(9);
            assertThat(images.row(0).getByte(28 * 14 + 14)).isNotZero();
        }
        assertThat(done.files()).isEqualTo(4);
        assertThat(done.bytes()).isEqualTo(54_950_000);
    }

    @Test
    void rowsTellWhatInfoPromises() throws IOException {
        writeInts("a.npy", 1, 2, 3);
        load("d", folder);

        List<ArrayRow> rows = control.list("", false);

        assertThat(rows).hasSize(1);
        ArrayRow row = rows.get(0);
        assertThat(row.name()).isEqualTo("d/a");
        assertThat(row.dtype()).isEqualTo("<i4");
        assertThat(row.shape()).containsExactly(3L);
        assertThat(row.state()).isEqualTo(ArrayRow.State.RESIDENT);
        assertThat(row.offset()).isEqualTo(StoreLayout.DATA_START);
        assertThat(Path.of(row.path())).isEqualTo(store.resolve("data/d/1/a.npy"));
        assertThat(Files.getPosixFilePermissions(Path.of(row.path()))).hasSize(1);
        assertThat(row.source()).isEqualTo(folder.resolve("a.npy").toString());
    }

    @Test
    void aStoreHoldsItsPartsAndTheLockAndNothingElse() throws IOException {
        writeInts("a.npy", 1);
        load("d", folder);
        control.createRegion("region", "array", 4_096);
        daemon.serveHttp(0, Set.of(), null, Map.of());
        StoreLayout layout = new StoreLayout(store);
        List<String> expected = Stream.concat(layout.parts().stream(), Stream.of(layout.lock()))
                .filter(part -> !part.equals(layout.catalog())) // a stop writes it
                .map(part -> String.valueOf(part.getFileName()))
                .filter(part -> !part.equals("regions.sock")) // earlier builds made it
                .toList();

        Awaitility.await()
                .untilAsserted(
                        () -> assertThat(ServedStore.entries(store)).containsExactlyInAnyOrderElementsOf(expected));
        assertThat(layout.parts()).containsAll(layout.partsOfOneRun());
    }

    @Test
    void aReaderKeepsItsVersionWhileANewOneIsPublished() throws IOException {
        writeInts("a.npy", 1);
        load("d", folder);
        try (Larder larder = Larder.connect(store);
                Dataset first = larder.dataset("d")) {
            ArrayView old = first.array("a");
            writeInts("a.npy", 2);
            load("d", folder);
            try (Dataset second = larder.dataset("d")) {
                assertThat(old.getInt(0)).isEqualTo(1);
                assertThat(second.array("a").getInt(0)).isEqualTo(2);
                assertThat(second.version()).isEqualTo(2);
            }
            assertThat(control.status().retiredBytes()).isPositive();
        }
        Awaitility.await().until(() -> control.status().retiredBytes() == 0);
        assertThat(store.resolve("data/d/1")).doesNotExist();
    }

    @Test
    void whatIsLeasedIsNotEvicted() throws IOException {
        writeInts("a.npy", 1);
        load("d", folder);
        try (Larder larder = Larder.connect(store);
                Dataset dataset = larder.dataset("d")) {
            assertThatThrownBy(() -> control.evict(dataset.name()))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED))
                    .hasMessageContaining("pids=[" + ProcessHandle.current().pid() + "]");
        }

        control.forget("d");

        assertThat(control.list("", true)).isEmpty();
        assertThat(store.resolve("data/d")).doesNotExist();
    }

    @Test
    void damageIsFoundByVerify() throws IOException {
        writeInts("a.npy", 1, 2, 3);
        load("d", folder);
        control.verify("d", progress -> {});
        Path file = store.resolve("data/d/1/a.npy");
        try (FileChannel channel = writableAgain(file)) {
            channel.write(ByteBuffer.wrap(new byte[] {9}), StoreLayout.DATA_START + 1);
        }

        assertThatThrownBy(() -> control.verify("d/a", progress -> {}))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CHECKSUM))
                .hasMessageContaining("d/a");
    }

    @Test
    void aSecondDaemonIsRefusedWithThePidOfTheFirst() {
        assertThatThrownBy(() -> Daemon.start(new DaemonConfig(store, OptionalLong.empty(), 1)))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED))
                .hasMessageContaining("pid=" + ProcessHandle.current().pid());
    }

    @Test
    void unknownNamesFailAtOnceWithNearOnes() throws IOException {
        writeInts("a.npy", 1);
        load("fashion", folder);
        try (Larder larder = Larder.connect(store)) {
            assertThatThrownBy(() -> larder.dataset("fashon", Duration.ofMinutes(1)))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                    .hasMessageContaining("did you mean fashion");
        }
    }

    @Test
    void aLoadThatIsRefusedLeavesNothing() throws IOException {
        writeInts("good.npy", 1);
        Files.writeString(folder.resolve("bad.npy"), "not an array");

        assertThatThrownBy(() -> load("d", folder))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("bad.npy");
        assertThat(entries(store.resolve("incoming"))).isEmpty();
        assertThat(entries(store.resolve("data"))).isEmpty();
    }

    @Test
    void aLoadThatDoesNotFitIsRefusedWithItsNumbers() throws IOException {
        daemon.stop(false);
        daemon = Daemon.start(new DaemonConfig(store, OptionalLong.of(10_000), 2));
        writeInts("a.npy", new int[4096]);

        assertThatThrownBy(() -> load("d", folder))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE))
                .hasMessageContaining("needed=24576 free=10000");
    }

    @Test
    void stoppingTellsWhatReadersStillHold() throws IOException {
        writeInts("a.npy", 7);
        load("d", folder);
        try (Larder larder = Larder.connect(store);
                OwnedArrayView view = larder.open("d")) {
            CleanUp cleanUp = daemon.stop(false);

            assertThat(cleanUp.heldUntilExitBytes()).isEqualTo(8192);
            assertThat(cleanUp.holders())
                    .containsExactly(ProcessHandle.current().pid());
            assertThat(view.getInt(0)).isEqualTo(7);
        }
    }

    private Done load(String name, Path path) {
        LoadRequest.Source source = new LoadRequest.Source(name, path.toString());
        return control.load(new LoadRequest(List.of(source), List.of(), 0), progress -> {});
    }

    private void writeInts(String file, int... values) throws IOException {
        ByteBuffer data = ByteBuffer.allocate(values.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        data.asIntBuffer().put(values);
        try (FileChannel channel = FileChannel.open(
                folder.resolve(file),
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE)) {
            channel.write(
                    NpyHeader.of(Dtype.parse("<i4"), Order.C, values.length).encode(64));
            channel.write(data);
        }
    }

    private static FileChannel writableAgain(Path file) throws IOException {
        Files.setPosixFilePermissions(file, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
        return FileChannel.open(file, StandardOpenOption.WRITE);
    }

    private static List<Path> entries(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.toList();
        }
    }
}
