package dev.larder.server.source.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceOptions;
import dev.larder.testing.Folders;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The look of a listing: equal only if no file has changed. */
class FileListingTest {
    private static final long CLOCK_STEP_NANOS = 20_000_000;
    private static final FileTime LONG_AGO = FileTime.from(Instant.parse("2020-02-02T02:02:02Z"));

    @TempDir
    Path folder;

    private Path file;

    private interface Change {
        void apply() throws IOException;
    }

    @BeforeEach
    void write() throws IOException {
        Files.createDirectory(folder.resolve("inner"));
        file = Files.writeString(folder.resolve("inner/a.npy"), "one");
        Files.writeString(folder.resolve("b.npy"), "two");
        Files.setLastModifiedTime(file, LONG_AGO);
    }

    private String look() {
        return look(CLOCK_STEP_NANOS);
    }

    private String look(long settledNanos) {
        return FileListing.of(folder, SourceOptions.none().exclusion(), ScanSettings.quick())
                .look(settledNanos);
    }

    /** Returns the look after the files are old enough to have one. */
    private String oldLook() {
        return await().until(this::look, look -> !look.isEmpty());
    }

    private void assertSeen(Change change) throws IOException {
        String before = oldLook();
        assertThat(look()).isEqualTo(before);
        change.apply();
        assertThat(oldLook()).isNotEqualTo(before);
    }

    @Test
    void anyChangeOfAFileChangesTheLook() throws IOException {
        assertSeen(() -> Files.writeString(file, "new"));
        assertSeen(() -> Files.setLastModifiedTime(file, LONG_AGO));
        assertSeen(() -> Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----")));
        assertSeen(() -> Files.createFile(folder.resolve("empty.npy")));
        assertSeen(() -> Files.move(file, folder.resolve("inner/c.npy")));
        assertSeen(() -> Files.move(folder.resolve("inner"), folder.resolve("other")));
        assertSeen(() -> Files.delete(folder.resolve("b.npy")));
    }

    @Test
    void bytesWrittenInPlaceChangeTheLookEvenIfTheTimeIsSetBack() throws IOException {
        assertSeen(() -> {
            try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
                bytes.write('x');
            }
            Files.setLastModifiedTime(file, LONG_AGO);
        });
    }

    @Test
    void aFileThatALaterWriteCouldResembleHasNoLook() throws IOException {
        oldLook();

        Files.setLastModifiedTime(file, FileTime.from(Instant.now().plusSeconds(3600)));

        assertThat(look()).isEmpty();
    }

    @Test
    void aFileThatMayHaveChangedPagesInMemoryHasNoLook() {
        oldLook();

        assertThat(look(FileListing.SETTLED_NANOS)).isEmpty();
    }

    @Test
    void filesOfATmpfsHaveNoLook() throws IOException {
        folder = LeavesNothingBehind.newFolder();
        try {
            Files.writeString(folder.resolve("a.npy"), "one");

            assertThat(look(-TimeUnit.HOURS.toNanos(1))).isEmpty();
        } finally {
            Folders.remove(folder);
        }
    }

    @Test
    void filesOfSeveralFileSystemsHaveNoLook() throws IOException {
        oldLook();

        Files.createSymbolicLink(folder.resolve("version"), Path.of("/proc/version"));

        assertThat(look()).isEmpty();
    }

    @Test
    void aFileThatCannotBeReadHasNoLook() throws IOException {
        oldLook();

        Files.createSymbolicLink(folder.resolve("c.npy"), folder.resolve("absent"));

        assertThat(look()).isEmpty();
    }
}
