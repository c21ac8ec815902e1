package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.testing.Folders;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loads of what is resident already: what has changed becomes the next version, nothing else does. */
class ReloadTest {
    private static final int LARGE = 1 << 20;

    /** Where no sample of a file of that length is taken. */
    private static final long BETWEEN_SAMPLES = 100_000;

    private static final FileTime LONG_AGO = FileTime.from(Instant.parse("2020-02-02T02:02:02Z"));

    @TempDir
    Path sources;

    private ServedStore served;
    private Daemon daemon;
    private Path a;

    @BeforeEach
    void start() throws IOException {
        served = ServedStore.create();
        daemon = served.start();
        a = ServedStore.writeBytes(sources.resolve("a.npy"), LARGE);
        Files.setLastModifiedTime(a, LONG_AGO);
        ServedStore.writeInts(sources.resolve("b.npy"), 1, 2, 3);
        Files.setLastModifiedTime(sources.resolve("b.npy"), LONG_AGO);
        served.load("d", sources);
    }

    @AfterEach
    void stop() {
        served.close();
    }

    private Done load(LoadOptions options) {
        LoadRequest.Source source = new LoadRequest.Source("d", sources.toString());
        return served.control().load(new LoadRequest(List.of(source), options, 2), progress -> {});
    }

    private Done load() {
        return load(LoadOptions.none());
    }

    private long version() {
        return served.control().info("d/a").get(0).version();
    }

    private void writeByte(Path file, long position) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {(byte) 0xee}), position);
        }
    }

    private static void assertFails(ThrowingCallable call, ErrorCode code, String... words) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContainingAll(words);
    }

    @Test
    void aSourceThatLooksAsItDidIsNotReadAgain() {
        Done again = load();

        assertThat(again.files()).isZero();
        assertThat(again.message()).contains("d is unchanged: version=1 digest=", "look unchanged");
        assertThat(version()).isEqualTo(1);
    }

    @Test
    void oneChangedFileAmongThousandsIsFoundAlthoughTheTimeWasSetBack() throws IOException {
        for (int i = 0; i < 2_000; i++) {
            ServedStore.writeInts(sources.resolve("c" + i + ".npy"), i);
        }
        await().until(() -> load().message(), message -> message.contains("look unchanged"));
        Path changed = sources.resolve("c1234.npy");
        FileTime before = Files.getLastModifiedTime(changed);
        writeByte(changed, Files.size(changed) - 4);
        Files.setLastModifiedTime(changed, before);

        assertThat(load().message()).contains("d has changed: version=3 replaces=2");

        try (Larder larder = Larder.connect(served.root());
                OwnedArrayView now = larder.open("d/c1234")) {
            assertThat(now.getInt(0)).isEqualTo((1234 & ~0xff) | 0xee);
        }
    }

    @Test
    void aFolderWithAFileOfNoKnownKindIsScannedAgainSoThatItIsNamed() throws IOException {
        Files.writeString(sources.resolve("README"), "two arrays");

        for (int round = 0; round < 3; round++) {
            assertThat(load().message()).contains("look unchanged", "skipped 1 file of no known kind");
        }
    }

    @Test
    void aFileThatWasOnlyTouchedKeepsTheVersionAndIsRememberedAsItLooksNow() throws IOException {
        Files.setLastModifiedTime(a, FileTime.from(Instant.parse("2021-01-01T00:00:00Z")));

        assertThat(load().message()).contains("version=1", "were read again and are unchanged");
        assertThat(load().message()).contains("version=1", "look unchanged");
        assertThat(version()).isEqualTo(1);
    }

    @Test
    void aChangedFileBecomesTheNextVersionWhileReadersKeepTheOldOne() {
        try (Larder larder = Larder.connect(served.root());
                OwnedArrayView old = larder.open("d/b")) {
            ServedStore.writeInts(sources.resolve("b.npy"), 7, 8, 9);

            assertThat(load().message()).contains("d has changed: version=2 replaces=1");

            assertThat(old.getInt(0)).isEqualTo(1);
            try (OwnedArrayView now = larder.open("d/b")) {
                assertThat(now.getInt(0)).isEqualTo(7);
            }
        }
    }

    @Test
    void aDatasetIsTheNewestUntilAnotherVersionIsPublished() {
        try (Larder larder = Larder.connect(served.root());
                Dataset old = larder.dataset("d")) {
            assertThat(old.isNewest()).isTrue();

            ServedStore.writeInts(sources.resolve("b.npy"), 7, 8, 9);
            Object unused = load();

            assertThat(old.isNewest()).isFalse();
            try (Dataset now = larder.dataset("d")) {
                assertThat(now.isNewest()).isTrue();
            }
            Object unusedEviction = served.control().evict("d");
            assertThat(old.isNewest()).isFalse();
        }
    }

    @Test
    void anotherSourceOfADatasetIsNamedBesideTheOneBefore(@TempDir Path elsewhere) {
        Path other = ServedStore.writeInts(elsewhere.resolve("c.npy"), 1);

        LoadRequest.Source source = new LoadRequest.Source("d", other.toString());
        String message = served.control()
                .load(new LoadRequest(List.of(source), LoadOptions.none(), 1), progress -> {})
                .message();

        assertThat(message)
                .contains("d has another source: version=2 replaces=1 source=" + other + " before=" + sources + ";");
    }

    @Test
    void aFileOfAnotherInodeIsReadAlthoughSizeAndTimeAreTheSame() throws IOException {
        Path copy = Files.copy(a, sources.resolve("copy"));
        writeByte(copy, BETWEEN_SAMPLES);
        Files.setLastModifiedTime(copy, LONG_AGO);
        Files.move(copy, a, StandardCopyOption.REPLACE_EXISTING);

        assertThat(load().message()).contains("version=2");
    }

    @Test
    void bytesChangedInPlaceBetweenSamplesAreFoundAlthoughTheTimeWasSetBack() throws IOException {
        writeByte(a, BETWEEN_SAMPLES);
        Files.setLastModifiedTime(a, LONG_AGO);

        assertThat(load().message()).contains("version=2");
    }

    @Test
    void otherPermissionsAndAnotherNameHaveTheContentReadOnceAndKeepTheVersion() throws IOException {
        Files.setPosixFilePermissions(a, PosixFilePermissions.fromString("r--r-----"));
        Path name = Files.createLink(sources.resolveSibling(sources.getFileName() + "-name"), a);
        try {
            assertThat(load().message()).contains("version=1", "were read again and are unchanged");
            assertThat(load().message()).contains("version=1", "look unchanged");
        } finally {
            Files.delete(name);
        }
    }

    @Test
    void aManifestOfAnEarlierReleaseSaysNothingOfInodesThatChanged() throws IOException {
        Path manifest = served.layout().version("d", 1).resolve("manifest.json");
        String text = Files.readString(manifest);
        assertThat(text).containsPattern("\"changed\":[0-9]{18}");
        daemon.stop(true);
        Files.setPosixFilePermissions(manifest, PosixFilePermissions.fromString("rw-------"));
        Files.writeString(manifest, text.replaceAll("\"changed\":[0-9]+,", ""));
        daemon = served.start();

        assertThat(load().message()).contains("version=1", "look unchanged");
    }

    @Test
    void bytesChangedInASampleAreFoundWhateverTheTimeSays() throws IOException {
        writeByte(a, LARGE);
        Files.setLastModifiedTime(a, LONG_AGO);

        assertThat(load().message()).contains("version=2");
    }

    @Test
    void aFileMoreIsAChange() {
        ServedStore.writeInts(sources.resolve("c.npy"), 4);

        assertThat(load().message()).contains("version=2");
        assertThat(served.control().info("d")).hasSize(3);
    }

    @Test
    void otherOptionsLoadAgain() {
        assertThat(load(LoadOptions.none().withPackBelowBytes(LARGE)).message()).contains("version=2");
    }

    @Test
    void theSameContentsFromElsewhereKeepTheVersion() throws IOException {
        Path other = Files.createDirectory(sources.resolveSibling(sources.getFileName() + "-other"));
        Files.copy(a, other.resolve("a.npy"));
        Files.copy(sources.resolve("b.npy"), other.resolve("b.npy"));
        try {
            assertThat(served.load("d", other).message()).contains("d is unchanged: version=1");
        } finally {
            Folders.remove(other);
        }
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
    }

    @Test
    void whatWasLoadedIsRememberedAcrossARestart() {
        daemon.stop(true);
        daemon = served.start();

        assertThat(load().message()).contains("d is unchanged: version=1", "look unchanged");
    }

    @Test
    void aReloadReadsEverythingAndKeepsTheVersionOfTheSame() {
        Done done = served.control().reload("d", progress -> {});

        assertThat(done.message()).contains("version=1", "were read again and are unchanged");
    }

    @Test
    void aReloadRepairsWhatWasDamagedInMemory() throws IOException {
        Path segment = Path.of(served.control().info("d/a").get(0).path());
        Files.setPosixFilePermissions(segment, PosixFilePermissions.fromString("rw-------"));
        writeByte(segment, LARGE);
        assertFails(() -> served.control().verify("d", progress -> {}), ErrorCode.CHECKSUM, "d/a");

        served.control().reload("d", progress -> {});

        assertThat(served.control().verify("d", progress -> {}).files()).isEqualTo(2);
        assertThat(version()).isEqualTo(2);
    }

    @Test
    void aReloadNeedsADatasetThatIsThere() {
        assertFails(() -> served.control().reload("e", progress -> {}), ErrorCode.NOT_FOUND, "dataset=e");
        assertFails(() -> served.control().reload("d/a", progress -> {}), ErrorCode.USAGE, "larder reload d");
    }

    @Test
    void verifyingAgainstSourcesNamesWhatDiffers() throws IOException {
        assertThat(served.control().verifyAgainstSources("d", progress -> {}).files())
                .isEqualTo(2);
        writeByte(a, BETWEEN_SAMPLES);

        assertFails(
                () -> served.control().verifyAgainstSources("d", progress -> {}),
                ErrorCode.CHECKSUM,
                "d/a file=" + a,
                "larder reload");
        assertThat(served.control().verifyAgainstSources("d/b", progress -> {}).files())
                .isEqualTo(1);
    }

    @Test
    void verifyingAgainstSourcesNamesWhatIsMissing() throws IOException {
        Files.delete(a);

        assertFails(
                () -> served.control().verifyAgainstSources("d", progress -> {}),
                ErrorCode.BAD_INPUT,
                "d/a is no longer in any source");
    }

    @Test
    void aSourceThatIsThereAndNoLoadAcceptsAnyMoreDiffers() throws IOException {
        byte[] bytes = Files.readAllBytes(a);
        Files.write(a, Arrays.copyOf(bytes, bytes.length / 2));
        Path table = Files.writeString(sources.resolveSibling(sources.getFileName() + ".csv"), "x,y\n1,2\n3,4\n");
        served.load("t", table);
        Files.writeString(table, "x,y\n1,2\n3\n");

        assertFails(
                () -> served.control().verifyAgainstSources("d", progress -> {}),
                ErrorCode.CHECKSUM,
                "sources differ from the loaded data",
                "it ends after");
        assertFails(
                () -> served.control().verifyAgainstSources("t", progress -> {}),
                ErrorCode.CHECKSUM,
                "line=3 reason=it has 1 fields",
                "larder reload");
        Files.writeString(table, "x\n1\n3\n");
        assertFails(
                () -> served.control().verifyAgainstSources("t", progress -> {}),
                ErrorCode.CHECKSUM,
                "t/y is no longer in any source");
        Files.delete(table);
        assertFails(
                () -> served.control().verifyAgainstSources("t", progress -> {}),
                ErrorCode.BAD_INPUT,
                "sources are missing or cannot be read",
                "it does not exist");
    }

    @Test
    void verifyingAgainstSourcesNamesWhatHasAnotherShape() {
        ServedStore.writeInts(sources.resolve("b.npy"), 1, 2);

        assertFails(
                () -> served.control().verifyAgainstSources("", progress -> {}),
                ErrorCode.CHECKSUM,
                "d/b has another dtype, shape or order");
    }
}
