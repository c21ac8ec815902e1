package dev.larder.internal.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BulkIoTest {
    private static final int PAGE_BYTES = 4096;

    private final Posix posix = Posix.system();
    private final BulkIo io = BulkIo.system();

    @TempDir
    Path folder;

    @Test
    void bytesAreReadAndWrittenAtAnyPositionFromAndToAnAddress() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[] {1, 2, 3, 4, 5});
        ByteBuffer buffer = ByteBuffer.allocateDirect(10);
        long address = io.addressOf(buffer);
        int descriptor = posix.openOrCreate(file, 0600);

        assertThat(io.read(descriptor, 3, address, 10)).isEqualTo(2);
        assertThat(io.read(descriptor, 5, address, 10)).isZero();
        io.write(descriptor, 6, address, 2);

        posix.close(descriptor);
        assertThat(buffer.get(1)).isEqualTo((byte) 5);
        assertThat(Files.readAllBytes(file)).containsExactly(1, 2, 3, 4, 5, 0, 4, 5);
    }

    @Test
    void bytesAreReadIntoAndWrittenFromAnyPlaceOfABufferWhateverItsPosition() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[] {1, 2, 3, 4, 5});
        ByteBuffer buffer = ByteBuffer.allocateDirect(10).position(7).limit(8);
        int descriptor = posix.openOrCreate(file, 0600);

        assertThat(io.read(descriptor, 3, buffer, 1, 9)).isEqualTo(2);
        assertThat(io.read(descriptor, 5, buffer, 0, 10)).isZero();
        io.write(descriptor, 6, buffer, 2, 1);

        posix.close(descriptor);
        assertThat(buffer.position()).isEqualTo(7);
        assertThat(buffer.limit()).isEqualTo(8);
        assertThat(Files.readAllBytes(file)).containsExactly(1, 2, 3, 4, 5, 0, 5);
    }

    @Test
    void oneReadFillsSeveralPiecesOfMemoryAndPassesOverWhatNobodyWants() throws IOException {
        int descriptor = posix.openForReading(Files.write(folder.resolve("file"), new byte[] {1, 2, 3, 4, 5, 6, 7}));
        ByteBuffer buffer = ByteBuffer.allocateDirect(8);
        ScatterList pieces = new ScatterList(3, 2);

        pieces.add(io.addressOf(buffer) + 4, 2);
        pieces.skip(2);
        pieces.add(io.addressOf(buffer), 4);
        long read = io.read(descriptor, 1, pieces);

        posix.close(descriptor);
        assertThat(pieces.room()).isZero();
        assertThat(pieces.byteSize()).isEqualTo(8);
        assertThat(read).as("the file ends within the third").isEqualTo(6);
        byte[] bytes = new byte[8];
        buffer.get(bytes);
        assertThat(bytes).containsExactly(6, 7, 0, 0, 2, 3, 0, 0);
    }

    @Test
    void aListOfPiecesRefusesMoreThanItHasRoomFor() {
        ScatterList pieces = new ScatterList(1, 2);

        assertThatThrownBy(() -> pieces.skip(3)).isInstanceOf(IllegalArgumentException.class);
        pieces.skip(2);
        assertThatThrownBy(() -> pieces.add(0, 1)).isInstanceOf(IllegalStateException.class);
        pieces.clear();
        assertThat(pieces.room()).isEqualTo(1);
    }

    @Test
    void aReadThatWasCutShortGoesOnWithinAPiece() {
        ScatterList pieces = new ScatterList(3, 0);
        pieces.add(100, 10);
        pieces.add(200, 10);
        pieces.add(300, 10);
        long first = pieces.address();

        pieces.advance(15);

        assertThat(pieces.missing()).isEqualTo(2);
        assertThat(pieces.address() - first).isEqualTo(16);
    }

    @Test
    void noByteBesideABufferIsReadOrWritten() throws IOException {
        int descriptor = posix.openOrCreate(Files.write(folder.resolve("file"), new byte[10]), 0600);
        ByteBuffer buffer = ByteBuffer.allocateDirect(10);

        assertThatThrownBy(() -> io.read(descriptor, 0, buffer, 2, 9)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> io.write(descriptor, 0, buffer, -1, 9)).isInstanceOf(IndexOutOfBoundsException.class);

        posix.close(descriptor);
    }

    @Test
    @Timeout(300)
    void aPipeThatNobodyWritesToIsOpenedAtOnceAndTellsWhatItIs() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor(60, TimeUnit.SECONDS))
                .isTrue();

        int descriptor = io.openWithoutWaiting(pipe);

        FileStatus status = posix.status(descriptor);
        posix.close(descriptor);
        assertThat(status.isRegular()).isFalse();
    }

    @Test
    void aFileIsOpenedThroughLinksAndTellsWhenItWasModified() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[1]);
        Files.setLastModifiedTime(file, FileTime.from(1_700_000_000_123_456_789L, TimeUnit.NANOSECONDS));
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);

        int descriptor = io.openWithoutWaiting(link);

        FileStatus status = posix.status(descriptor);
        posix.close(descriptor);
        assertThat(status.isRegular()).isTrue();
        assertThat(status.modifiedNanos())
                .isEqualTo(Files.getLastModifiedTime(file).to(TimeUnit.NANOSECONDS));
    }

    @Test
    void aWriteThatTheFileSystemTakesOnlyInPartIsRefused() {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=1m")) {
            int descriptor = posix.openOrCreate(tiny.folder().resolve("file"), 0600);

            assertThatThrownBy(() -> io.write(descriptor, 0, ByteBuffer.allocateDirect(2 << 20), 0, 2 << 20))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE));

            assertThat(posix.status(descriptor).byteSize()).isEqualTo(1 << 20);
            posix.close(descriptor);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"never", "advise", "always"})
    void aFullFileSystemRefusesToPopulateInsteadOfKilling(String huge) {
        assumeThat(io.canPopulate()).isTrue();
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=4m,huge=" + huge)) {
            int descriptor = posix.openOrCreate(tiny.folder().resolve("file"), 0600);
            io.resize(descriptor, 8 << 20);
            long address = io.mapWritable(descriptor, 0, 8 << 20);

            io.populate(address, 2 << 20);
            assertThatThrownBy(() -> io.populate(address, 8 << 20))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_SPACE));

            posix.unmap(address, 8 << 20);
            posix.close(descriptor);
        }
    }

    @Test
    void whatAsksForSmallPagesTakesSmallPages() {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=16m,huge=always")) {
            int descriptor = posix.openOrCreate(tiny.folder().resolve("file"), 0600);
            io.resize(descriptor, 2 * PAGE_BYTES);
            long address = io.mapWritable(descriptor, 0, 2 * PAGE_BYTES);

            assertThat(io.adviseSmallPages(address, 2 * PAGE_BYTES)).isTrue();
            io.populate(address, 2 * PAGE_BYTES);

            assertThat(posix.status(descriptor).storedBytes()).isEqualTo(2 * PAGE_BYTES);
            posix.unmap(address, 2 * PAGE_BYTES);
            posix.close(descriptor);
        }
    }
}
