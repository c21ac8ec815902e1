package dev.larder.server;

import static dev.larder.server.StoreKind.EXT4;
import static dev.larder.server.StoreKind.OVERLAY;
import static dev.larder.server.StoreKind.TMPFS_ALWAYS;
import static dev.larder.server.StoreKind.TMPFS_NEVER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.npy.Dtype;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.OptionalLong;
import org.junit.jupiter.api.io.TempDir;

/** What a store promises, on every file system. */
class StoreMatrixTest {
    private static final int MIB = 1 << 20;
    private static final int LARGE = 5 * MIB + 7;

    @TempDir
    Path sources;

    @StoreMatrix
    void whatIsLoadedIsReadByteByByteAndComesBackAfterItWasEvicted(ServedStore served) throws IOException {
        Path source = ServedStore.writeBytes(sources.resolve("large.npy"), LARGE);
        ServedStore.writeInts(sources.resolve("small.npy"), 1, 2, 3);
        served.start();
        served.load("d", sources);

        try (Larder larder = Larder.connect(served.root())) {
            requireDataOf(source, larder);
            served.control().evict("d");
            requireDataOf(source, larder);
        }
    }

    private static void requireDataOf(Path source, Larder larder) throws IOException {
        try (Dataset dataset = larder.dataset("d")) {
            ArrayView array = dataset.array("large");
            byte[] found = new byte[LARGE];
            array.byteBuffer(0, array.rows()).get(found);
            byte[] expected = Files.readAllBytes(source);
            assertThat(Arrays.equals(found, 0, LARGE, expected, expected.length - LARGE, expected.length))
                    .isTrue();
            assertThat(dataset.array("small").getInt(2)).isEqualTo(3);
        }
    }

    @StoreMatrix
    void aReaderKeepsItsVersionWhileAClientPublishesTheNext(ServedStore served) {
        served.start();
        build(served, 1);
        try (Larder larder = Larder.connect(served.root());
                Dataset first = larder.dataset("built")) {
            build(served, 2);

            try (Dataset second = larder.dataset("built")) {
                assertThat(first.array("data").getInt(LARGE - 1)).isEqualTo(1);
                assertThat(second.array("data").getInt(LARGE - 1)).isEqualTo(2);
                assertThat(second.version()).isEqualTo(2);
            }
        }
    }

    private static void build(ServedStore served, int value) {
        try (Larder larder = Larder.connect(served.root());
                DatasetBuilder builder = larder.create("built", Dtype.parse("|u1"), LARGE)) {
            builder.array().write(LARGE - 1, ByteBuffer.wrap(new byte[] {(byte) value}));
            builder.publish();
        }
    }

    @StoreMatrix
    void whatIsKeptIsThereAfterARestartWithoutItsSources(ServedStore served) throws IOException {
        Path source = ServedStore.writeInts(sources.resolve("loaded.npy"), 7);
        served.start();
        served.load("loaded", source);
        served.control().pin("loaded");
        build(served, 8);
        served.control().stop(true, progress -> {});
        Files.delete(source);

        served.start();

        try (Larder larder = Larder.connect(served.root());
                OwnedArrayView loaded = larder.open("loaded");
                OwnedArrayView built = larder.open("built")) {
            assertThat(loaded.getInt(0)).isEqualTo(7);
            assertThat(built.getInt(LARGE - 1)).isEqualTo(8);
        }
        assertThat(served.control().list("loaded", true))
                .singleElement()
                .matches(ArrayRow::pinned, "is pinned")
                .matches(row -> row.version() == 1, "is the first version");
    }

    @StoreMatrix(on = {TMPFS_ALWAYS, EXT4})
    void whatIsLargerThanTheCapacityIsRefused(ServedStore served) {
        Path source = ServedStore.writeBytes(sources.resolve("a.npy"), LARGE);
        served.start(OptionalLong.of(LARGE / 2));

        assertThatThrownBy(() -> served.load("d", source))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE));
    }

    /** The kernel grants read leases on files of an overlayfs that a mapping can still write to. */
    @StoreMatrix
    void aMappingThatOutlivesItsDescriptorCannotChangeWhatIsPublished(ServedStore served) throws IOException {
        served.start();
        try (Larder larder = Larder.connect(served.root());
                DatasetBuilder builder = larder.build("made")) {
            builder.array("large", Dtype.parse("|u1"), LARGE);
            MappedByteBuffer late = map(builder.folder().resolve("large.npy"));
            builder.publish();
            late.put(late.capacity() - 1, (byte) 77);

            try (OwnedArrayView published = larder.open("made/large")) {
                assertThat(published.getInt(LARGE - 1)).isZero();
            }
        }
    }

    private static MappedByteBuffer map(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(MapMode.READ_WRITE, 0, channel.size());
        }
    }

    @StoreMatrix(on = {TMPFS_NEVER, TMPFS_ALWAYS, EXT4, OVERLAY})
    void aFullFileSystemRefusesLoadsAndServesWhatItHas(ServedStore served) throws IOException {
        Path source = ServedStore.writeBytes(sources.resolve("more.npy"), LARGE);
        served.start(OptionalLong.of(ServedStore.ANY_CAPACITY));
        build(served, 1);
        Path filler = served.fillMount(4);

        assertThatThrownBy(() -> served.load("more", source))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE));
        assertThatThrownBy(() -> build(served, 2))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE));

        assertThat(StoreInsides.problems(served)).isEmpty();
        try (Larder larder = Larder.connect(served.root());
                OwnedArrayView built = larder.open("built")) {
            assertThat(built.getInt(LARGE - 1)).isEqualTo(1);
        }
        Files.delete(filler);
        served.load("more", source);
    }

    /** As a container has it that mounts the store of its host for readers. */
    @StoreMatrix(on = {TMPFS_NEVER, TMPFS_ALWAYS, EXT4, OVERLAY})
    void aReadOnlyMountServesReadersAndRefusesADaemon(ServedStore served) {
        Daemon daemon = served.start();
        build(served, 1);
        try (TinyTmpfs readers = TinyTmpfs.readOnly(served.root())) {
            try (Larder larder = Larder.connect(readers.folder());
                    OwnedArrayView built = larder.open("built")) {
                assertThat(built.getInt(LARGE - 1)).isEqualTo(1);
                assertThatThrownBy(() -> served.control().evict("built")).hasMessageContaining("pids=[");
            }
            daemon.stop(true);

            assertThatThrownBy(() -> Daemon.start(new DaemonConfig(readers.folder(), OptionalLong.empty(), 1)))
                    .isInstanceOf(LarderException.class)
                    .hasMessageContaining(readers.folder().toString());
        }
    }
}
