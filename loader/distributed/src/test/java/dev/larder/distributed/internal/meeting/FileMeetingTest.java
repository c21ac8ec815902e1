package dev.larder.distributed.internal.meeting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.posix.Posix;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks that meet at a file, and what others left there. */
class FileMeetingTest {
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final long NOBODYS_START = 1;

    @TempDir
    Path folder;

    private Path path() {
        return folder.resolve("meet");
    }

    private String place() {
        return "file://" + path();
    }

    private String seat(int rank, int worldSize) {
        return place() + "?rank=" + rank + "&world_size=" + worldSize;
    }

    private static Attempts attempts() {
        return new Attempts();
    }

    /** Writes a file as ranks leave it that were killed: all that are not absent were there. */
    private ByteBuffer leftBehind(int worldSize, int absent, int state) {
        ByteBuffer bytes = ByteBuffer.allocate(MeetingFileDescriptor.byteSize(worldSize));
        MeetingFileDescriptor file =
                MeetingFileDescriptor.begin(bytes, new RankSeat(0, worldSize, ""), MachineIdentity.current());
        for (int rank = 0; rank < worldSize; rank++) {
            if (rank != absent) {
                ProcessIdentity self = ProcessIdentity.current();
                file.take(rank, new ProcessIdentity(self.pid(), NOBODYS_START, self.pidSpace()), rank);
            }
        }
        file.state(state);
        return write(bytes);
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.capacity()];
        buffer.get(0, bytes);
        return bytes;
    }

    private ByteBuffer write(ByteBuffer bytes) {
        try {
            Files.write(path(), bytes(bytes));
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void ranksGetOneKeyAndTheLastRemovesTheFile() {
        Attempts attempts = attempts().meetAll(place(), 5, Attempts.PATIENCE);

        assertThat(attempts.keys()).hasSize(1).allMatch(key -> key.matches("[a-z0-9-]{16,64}"));
        assertThat(path()).doesNotExist();
    }

    @Test
    void manyMeetingsAtOneFileFollowEachOther() {
        for (int i = 0; i < 20; i++) {
            assertThat(attempts().meetAll(place(), 3, Attempts.PATIENCE).keys()).hasSize(1);
        }
        assertThat(path()).doesNotExist();
    }

    @Test
    void everyRankNamesTheMissingAndTheLastToGiveUpRemovesTheFile() {
        Attempts attempts =
                attempts().meet(seat(1, 6), SHORT).meet(seat(4, 6), SHORT).meet(seat(0, 6), SHORT);

        assertThat(attempts.failure(0).code()).isEqualTo(ErrorCode.DEADLINE);
        for (int i = 0; i < 3; i++) {
            assertThat(attempts.failure(i)).hasMessageContaining("missing=2-3,5 ");
        }
        assertThat(path()).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 0", "9, 0", "9, 1"})
    void whatDeadRanksLeftIsTakenOver(int absent, int state) {
        leftBehind(3, absent, state);

        Attempts attempts = attempts().meetAll(place(), 2, Attempts.PATIENCE);

        assertThat(attempts.keys()).hasSize(1);
        assertThat(path()).doesNotExist();
    }

    @Test
    void theKeyOfAMeetingThatWasTakenOverIsNew() {
        String before = MeetingFileDescriptor.wrap(leftBehind(2, 1, 0)).key();

        assertThat(attempts().meetAll(place(), 2, Attempts.PATIENCE).keys())
                .hasSize(1)
                .doesNotContain(before);
    }

    @Test
    void aFileThatWasNeverFinishedIsTakenOver() throws IOException {
        byte[] whole = bytes(leftBehind(2, 0, 0));
        for (int length : new int[] {0, 8, 100, 128, 150}) {
            Files.write(path(), Arrays.copyOf(whole, length));

            assertThat(attempts().meetAll(place(), 2, Attempts.PATIENCE).keys()).hasSize(1);
        }
        assertThat(path()).doesNotExist();
    }

    @Test
    void aFileOfSomethingElseIsRefusedAndStays() throws IOException {
        Files.writeString(path(), "the only copy of my results");

        LarderException failure = attempts().meet(seat(0, 2), SHORT).failure(0);

        assertThat(failure.code()).isEqualTo(ErrorCode.REFUSED);
        assertThat(path()).hasContent("the only copy of my results");
    }

    @Test
    void aMeetingOfAnEarlierBootIsTakenOverWhereTheMachineIsKnown() {
        ByteBuffer file = leftBehind(2, 9, 0).order(ByteOrder.LITTLE_ENDIAN);
        MeetingFileDescriptor content = MeetingFileDescriptor.wrap(file);
        content.take(0, ProcessIdentity.current(), 1);
        file.putLong(32, 42);
        content.state(0);
        write(file);

        boolean known = MachineIdentity.current().isKnown();
        Attempts attempts = attempts().meetAll(place(), 2, known ? Attempts.PATIENCE : SHORT);

        if (known) {
            assertThat(attempts.keys()).hasSize(1);
        } else {
            assertThat(attempts.failure(0)).hasMessageContaining("another machine");
        }
    }

    @Test
    void aMeetingOfAnotherMachineIsRefused() {
        ByteBuffer file = leftBehind(2, 9, 0).order(ByteOrder.LITTLE_ENDIAN);
        file.putLong(32, 42).putLong(40, 43);
        MeetingFileDescriptor.wrap(file).state(0);
        write(file);

        assertThat(attempts().meet(seat(0, 2), SHORT).failure(0)).hasMessageContaining("another machine");
    }

    @Test
    void aSecondJobIsRefusedWhileTheFirstMeets() {
        Attempts attempts = attempts().meet(seat(0, 2) + "&job=a", Attempts.PATIENCE);
        await().until(() -> Files.exists(path()) && Files.size(path()) > 0);

        attempts.meet(seat(0, 2) + "&job=b", SHORT)
                .meet(seat(2, 3) + "&job=a", SHORT)
                .meet(seat(0, 2) + "&job=a", SHORT);

        assertThat(attempts.failure(1)).hasMessageContaining("another job");
        assertThat(attempts.failure(2)).hasMessageContaining("another world size");
        assertThat(attempts.failure(3)).hasMessageContaining("already joined").hasMessageContaining("pid=");
        attempts.meet(seat(1, 2) + "&job=a", Attempts.PATIENCE);
        assertThat(attempts.meeting(0).key()).isEqualTo(attempts.meeting(4).key());
    }

    @Test
    void aMeetingWaitsUntilTheEarlierOneHasLeft() {
        ByteBuffer file = leftBehind(2, 9, MeetingFileDescriptor.COMPLETE);
        MeetingFileDescriptor content = MeetingFileDescriptor.wrap(file);
        content.take(1, ProcessIdentity.current(), 1);
        write(file);

        LarderException failure = attempts().meet(seat(0, 2), SHORT).failure(0);

        assertThat(failure)
                .hasMessageContaining("earlier rendezvous")
                .hasMessageContaining("ranks 1 are still leaving");
    }

    @Test
    void aLockThatIsNeverGivenUpIsToldOf() {
        Posix posix = Posix.system();
        int descriptor = posix.openOrCreate(path(), 0600);
        try {
            assertThat(posix.tryLockExclusive(descriptor)).isTrue();
            assertThat(attempts().meet(seat(0, 2), SHORT).failure(0)).hasMessageContaining("keeps the file locked");
        } finally {
            posix.close(descriptor);
        }
    }

    @Test
    void aRankThatIsInterruptedFreesItsPlace() {
        Attempts attempts = attempts().meet(seat(0, 2), Attempts.PATIENCE);
        await().until(() -> Files.exists(path()) && Files.size(path()) > 0);

        attempts.interrupt(0);

        assertThat(attempts.failure(0).code()).isEqualTo(ErrorCode.INTERRUPTED);
        assertThat(path()).doesNotExist();
    }

    @Test
    void ranksMeetAgainWhereSomebodyRemovedTheFile() throws IOException {
        Attempts attempts = attempts().meet(seat(0, 2), Attempts.PATIENCE);
        await().until(() -> Files.exists(path()) && Files.size(path()) > 0);
        Files.delete(path());

        assertThat(attempts.meet(seat(1, 2), Attempts.PATIENCE).keys()).hasSize(1);
    }

    @Test
    void aFullFileSystemIsToldOfAndNoFileStays() throws IOException {
        try (TinyTmpfs tmpfs = TinyTmpfs.mount("size=8k")) {
            Files.write(tmpfs.folder().resolve("full"), new byte[8 << 10]);

            LarderException failure = attempts()
                    .meet("file://" + tmpfs.folder() + "/meet?rank=0&world_size=2", SHORT)
                    .failure(0);

            assertThat(failure.code()).isEqualTo(ErrorCode.NO_SPACE);
            assertThat(tmpfs.folder().resolve("meet")).doesNotExist();
        }
    }

    @Test
    void aFolderThatIsNotThereIsToldOf() {
        LarderException failure = attempts()
                .meet("file://" + folder + "/no/meet?rank=0&world_size=2", SHORT)
                .failure(0);

        assertThat(failure)
                .hasMessageContaining("cannot open the rendezvous file")
                .hasMessageContaining("folder must exist");
    }
}
