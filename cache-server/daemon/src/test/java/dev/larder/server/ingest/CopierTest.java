package dev.larder.server.ingest;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.Extent;
import dev.larder.server.source.Extents;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.store.IncomingVersion;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.Provenance;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Copies of data that does as it likes. */
@Timeout(300)
class CopierTest {
    private static final int SEED = 20_260_101;

    @TempDir
    Path sources;

    private Path file;
    private Path root;
    private Store store;
    private IncomingVersion version;

    @BeforeEach
    void open() throws IOException {
        file = Files.write(sources.resolve("file"), new byte[1]);
        root = LeavesNothingBehind.newFolder();
        store = Store.open(new StoreLayout(root), OptionalLong.of(1L << 40), Optional.empty());
        version = store.newIncoming("d", Provenance.computed(0));
    }

    @AfterEach
    void remove() throws IOException {
        version.close();
        store.removeAll(List.of());
        assertThat(root).doesNotExist();
    }

    @Test
    void theFirstFailureEndsAllEvenWhileAnEarlierCopyIsStillRunning() {
        CountDownLatch running = new CountDownLatch(1);
        SourceArray hanging = ScriptedData.stream("hanging", 100, file, target -> hang(running));
        SourceArray failing = ScriptedData.stream("failing", 10, file, target -> {
            await(running);
            throw refusal("no more");
        });

        assertThatThrownBy(() -> copy(2, hanging, failing))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("no more");
    }

    @Test
    void whateverAThreadDiesOfEndsTheLoadWithItsReason() {
        SourceArray deadly = ScriptedData.stream("deadly", 10, file, target -> {
            throw new StackOverflowError("made up");
        });

        assertThatThrownBy(() -> copy(2, deadly))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNEXPECTED))
                .hasMessageContaining("made up");
    }

    @Test
    void allFailuresThatAreKnownAreListed() {
        CyclicBarrier together = new CyclicBarrier(2);
        List<SourceArray> arrays = new ArrayList<>();
        for (String name : List.of("one", "two")) {
            arrays.add(ScriptedData.stream(name, 10, file, target -> {
                await(together);
                throw refusal(name + " is bad");
            }));
        }

        assertThatThrownBy(() -> copy(2, arrays.toArray(SourceArray[]::new)))
                .hasMessageContaining("badFiles=2")
                .hasMessageContaining("one is bad")
                .hasMessageContaining("two is bad");
    }

    @Test
    void aStreamThatEndsTooEarlyIsRefused() {
        SourceArray brief = ScriptedData.stream("brief", 10, file, target -> -1);

        assertThatThrownBy(() -> copy(1, brief)).hasMessageContaining("it ends 10 bytes too early");
    }

    @Test
    void stretchesOfManyFilesAreJoinedWhateverTheirSizes() throws IOException {
        Random random = new Random(SEED);
        byte[] data = new byte[40 << 20];
        random.nextBytes(data);
        Path all = Files.write(sources.resolve("all"), data);
        List<Extent> regions = new ArrayList<>();
        for (int at = 0; at < data.length; ) {
            int most = random.nextInt(4) == 0 ? 9 << 20 : 2000;
            int step = random.nextInt(10) == 0 ? 0 : Math.min(data.length - at, random.nextInt(most));
            regions.add(new Extent(all, at, step));
            at += step;
        }
        regions.add(new Extent(all, 0, 0));

        copy(3, ScriptedData.regions("joined", regions));

        byte[] stored = Files.readAllBytes(version.folder().resolve("joined.npy"));
        assertThat(ByteBuffer.wrap(stored, StoreLayout.DATA_START, data.length)).isEqualTo(ByteBuffer.wrap(data));
    }

    @Test
    void anExtentOfAnArrayOfManyFilesIsReadFromItsOwnFile() throws IOException {
        Path second = Files.writeString(sources.resolve("second"), "of the second");
        SourceArray array = new SourceArray(
                new ArrayName("d", "a"),
                NpyHeader.of(Dtype.parse("|u1"), Order.C, 6),
                Extents.of(new Extent(second, 7, 6)),
                List.of(SourceIdentity.of(file), SourceIdentity.of(second)),
                ColumnPart.NONE);

        copy(1, array);

        assertThat(Files.readString(version.folder().resolve("a.npy"), StandardCharsets.ISO_8859_1))
                .endsWith("second");
    }

    private interface Change {
        void of(Path file) throws Exception;
    }

    private static Stream<Change> changes() {
        return Stream.of(
                small -> Files.setLastModifiedTime(small, FileTime.fromMillis(1)),
                small -> Files.write(small, new byte[99]),
                small -> Files.write(small, new byte[101]),
                small -> Files.copy(Files.write(small.resolveSibling("b"), new byte[100]), small, REPLACE_EXISTING),
                small -> Files.createDirectory(deleted(small)),
                small -> new ProcessBuilder("mkfifo", deleted(small).toString())
                        .start()
                        .waitFor(),
                small -> Files.createSymbolicLink(deleted(small), Path.of("/dev/zero")));
    }

    private static Path deleted(Path small) throws IOException {
        Files.delete(small);
        return small;
    }

    /** Such a file is looked at only after it was read. */
    @ParameterizedTest
    @MethodSource("changes")
    void aSmallFileThatIsNotWhatWasScannedIsRefused(Change change) throws Exception {
        FileTable files = new FileTable(sources, false);
        for (int i = 0; i < 3; i++) {
            Path small = Files.write(sources.resolve("small" + i), new byte[100]);
            SourceIdentity seen = SourceIdentity.of(small);
            files.add("", "small" + i, 100, seen.modifiedNanos(), seen.changedNanos(), seen.inode());
        }
        change.of(sources.resolve("small1"));
        SourceArray array = new SourceArray(
                new ArrayName("d", "joined"),
                NpyHeader.of(Dtype.parse("|u1"), Order.C, 300),
                Extents.of(files),
                files,
                ColumnPart.NONE);

        assertThatThrownBy(() -> copy(2, array))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("small1 reason=it changed while it was read");
    }

    private void copy(int workers, SourceArray... arrays) {
        try (Copier copier = new Copier(workers, new LoadProgress("d"))) {
            copier.add(version, LoadPlan.of(List.of(arrays), ScriptedData.NOT_PACKED));
            copier.start();
            copier.await();
        }
    }

    private static LarderException refusal(String what) {
        return Failure.of(ErrorCode.BAD_INPUT, what).exception();
    }

    private static int hang(CountDownLatch running) throws IOException {
        running.countDown();
        try {
            new CountDownLatch(1).await();
            return -1;
        } catch (InterruptedException e) {
            throw new InterruptedIOException();
        }
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new InterruptedIOException();
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(60, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
