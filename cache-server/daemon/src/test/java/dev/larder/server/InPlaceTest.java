package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.testing.ChildJvm;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are mapped where they lie: nothing of them is copied, changed or removed, whatever happens to the store. */
class InPlaceTest {
    @TempDir
    Path sources;

    private ServedStore served;
    private Path file;
    private byte[] before;

    @BeforeEach
    void create() throws IOException {
        served = ServedStore.create();
        file = ServedStore.writeInts(sources.resolve("a.npy"), 11, 22, 33);
        ServedStore.writeBytes(sources.resolve("folder/b.npy"), 1 << 20);
        before = Files.readAllBytes(file);
    }

    @AfterEach
    void close() {
        served.close();
    }

    private Done load(Path source) {
        LoadRequest.Source named = new LoadRequest.Source("d", source.toString());
        LoadOptions options = LoadOptions.none().withInPlace(true);
        return served.control().load(new LoadRequest(List.of(named), options, 2), progress -> {});
    }

    private int firstValue() {
        try (Larder larder = Larder.connect(served.root());
                Dataset dataset = larder.dataset("d")) {
            dataset.stored().requireSourcesUnchanged();
            return dataset.array("a").getInt(0);
        }
    }

    private static void assertFails(ThrowingCallable call, ErrorCode code, String... words) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContainingAll(words);
    }

    private void assertUntouched() throws IOException {
        assertThat(Files.readAllBytes(file)).isEqualTo(before);
        assertThat(Files.size(sources.resolve("folder/b.npy"))).isGreaterThan(1 << 20);
    }

    @Test
    void arraysAreReadWhereTheyLieAndNothingIsStored() throws IOException {
        served.start();

        assertThat(load(sources).files()).isEqualTo(2);

        ArrayRow row = served.control().info("d/a").get(0);
        assertThat(row.state()).isEqualTo(ArrayRow.State.MAPPED);
        assertThat(row.path()).isEqualTo(file.toRealPath().toString());
        assertThat(served.control().status().usedBytes()).isZero();
        assertThat(firstValue()).isEqualTo(11);
        assertThat(served.control().verify("d", progress -> {}).files()).isEqualTo(2);
    }

    @Test
    void evictingAndStoppingLeaveTheFiles() throws IOException {
        Daemon daemon = served.start();
        load(sources);
        served.control().evict("d");
        load(sources);
        daemon.stop(false);

        assertUntouched();
        assertThat(served.root()).doesNotExist();
    }

    @Test
    void aKilledDaemonLeavesTheFilesAndTheNextOneTakesThemOver() throws IOException {
        ChildJvm daemon = served.startProcess();
        load(sources);
        daemon.kill();

        served.start();

        assertUntouched();
        assertThat(firstValue()).isEqualTo(11);
        assertThat(load(sources).message()).contains("d is unchanged: version=1");
    }

    @Test
    void theNextDaemonDropsWhatHasChangedButNotTheFile() throws IOException {
        ChildJvm daemon = served.startProcess();
        load(sources);
        daemon.kill();
        Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2020-01-01T00:00:00Z")));

        served.start();

        assertThat(served.control().list("", true))
                .extracting(ArrayRow::state)
                .containsExactly(ArrayRow.State.REGISTERED);
        assertUntouched();
    }

    @Test
    void aFileThatChangesIsNoticedBeforeItIsReadAsTheOldVersion() throws IOException {
        served.start();
        load(sources);
        Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2020-01-01T00:00:00Z")));

        assertFails(
                this::firstValue,
                ErrorCode.CHECKSUM,
                "has changed",
                file.toRealPath().toString(),
                "larder reload");
        assertFails(() -> served.control().verify("d", progress -> {}), ErrorCode.CHECKSUM, "d/a");
        assertThat(served.control().reload("d", progress -> {}).message()).contains("version=2");
        assertThat(firstValue()).isEqualTo(11);
    }

    @Test
    void aFileThatIsReplacedIsNoticedAlsoByThoseWhoHaveItOpen() throws IOException {
        served.start();
        load(sources);
        try (Larder larder = Larder.connect(served.root());
                Dataset dataset = larder.dataset("d")) {
            Path other = ServedStore.writeInts(sources.resolve("other"), 44, 55, 66);
            Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);

            assertFails(dataset.stored()::requireSourcesUnchanged, ErrorCode.CHECKSUM, "has changed");
            assertFails(() -> dataset.array("a"), ErrorCode.CHECKSUM, "has changed");
        }
    }

    @Test
    void aFileThatShrinksIsNoticedWhenAnotherOfItsArraysIsOpened() throws IOException {
        served.start();
        String header = "{\"p\":{\"dtype\":\"U8\",\"shape\":[64],\"data_offsets\":[0,64]},"
                + "\"q\":{\"dtype\":\"U8\",\"shape\":[64],\"data_offsets\":[64,128]}}      ";
        ByteBuffer image = ByteBuffer.allocate(8 + header.length() + 128).order(ByteOrder.LITTLE_ENDIAN);
        image.putLong(header.length()).put(header.getBytes(StandardCharsets.UTF_8));
        Path two = Files.write(sources.resolve("two.safetensors"), image.array());
        load(two);

        try (Larder larder = Larder.connect(served.root());
                Dataset dataset = larder.dataset("d")) {
            assertThat(dataset.array("p").shape()).containsExactly(64);
            Files.write(two, Arrays.copyOf(image.array(), 16));

            assertFails(() -> dataset.array("q"), ErrorCode.CHECKSUM, "mapped in place has changed", "bytes=16");
        }
    }

    @Test
    void aFileThatIsGoneIsNamed() throws IOException {
        served.start();
        load(sources);
        String path = file.toRealPath().toString();
        Files.delete(file);

        assertFails(this::firstValue, ErrorCode.BAD_INPUT, "is missing", path);
    }

    @Test
    void whatIsPackedIsRefusedInWords() throws IOException {
        served.start();
        Path packed = sources.resolve("labels-idx1-ubyte.gz");
        try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
            out.write(new byte[] {0, 0, 8, 1, 0, 0, 0, 2, 5, 6});
        }

        assertFails(
                () -> load(sources),
                ErrorCode.BAD_INPUT,
                "cannot be mapped in place: count=1 arrays=[labels: its data is compressed",
                "files=[");
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
    }

    @Test
    void filesOfTheStoreItselfAreRefused() {
        served.start();
        served.load("copied", file);
        Path segment = Path.of(served.control().info("copied").get(0).path());

        assertFails(() -> load(segment), ErrorCode.BAD_INPUT, "it is in the store itself");
    }

    @Test
    void aLinkIsResolvedOnce() throws IOException {
        served.start();
        Path link = Files.createSymbolicLink(sources.resolve("linked.npy"), file);

        load(link);

        assertThat(served.control().info("d").get(0).path())
                .isEqualTo(file.toRealPath().toString());
    }
}
