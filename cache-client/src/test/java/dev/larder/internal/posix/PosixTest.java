package dev.larder.internal.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.LeavesNothingBehind;
import dev.larder.testing.LockHolder;
import dev.larder.testing.TinyTmpfs;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PosixTest {
    private static final long SIGPIPE = 13;
    private static final int NO_DESCRIPTOR = 1 << 20;

    private final Posix posix = Posix.system();
    private Path folder;
    private Path file;

    @BeforeEach
    void create() throws IOException {
        folder = LeavesNothingBehind.newFolder();
        file = Files.write(folder.resolve("größe"), new byte[] {1, 2, 3, 4, 5});
    }

    @AfterEach
    void remove() throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            for (Path entry : entries) {
                Files.delete(entry);
            }
        }
        Files.delete(folder);
    }

    /** Calls the C library for the first time while the JVM, which is ending, removes files. */
    static final class LateProgram {
        /** As many names keep it busy for a while. */
        private static final int NAMES = 300_000;

        public static void main(String[] arguments) {
            for (int i = 0; i < NAMES; i++) {
                new File("/no/such/folder/" + i).deleteOnExit();
            }
            new Thread(() -> System.exit(0)).start();
            while (!isRemovingFiles()) {
                Thread.onSpinWait();
            }
            try {
                System.out.println(Posix.system().userId());
            } catch (LarderException e) {
                System.out.println(e.code() + " " + e.getMessage());
            }
        }

        private static boolean isRemovingFiles() {
            try {
                new File("/no/such/folder/0").deleteOnExit();
                return false;
            } catch (IllegalStateException e) {
                return true;
            }
        }
    }

    @Test
    void aFirstCallWhenTheJvmIsEndingIsInterrupted() {
        try (ChildJvm child = ChildJvm.start(LateProgram.class)) {
            assertThat(child.awaitLine()).startsWith("INTERRUPTED the JVM is ending: reason=");
        }
    }

    @Test
    void aDescriptorTellsItsFileEvenWhenTheFileHasNoNameAnyMore() throws IOException {
        int descriptor = posix.openForReading(file);
        Files.createLink(folder.resolve("second"), file);
        assertThat(posix.status(descriptor).links()).isEqualTo(2);
        Files.delete(folder.resolve("second"));
        Files.delete(file);

        FileStatus status = posix.status(descriptor);

        posix.close(descriptor);
        assertThat(status.isLinked()).isFalse();
        assertThat(status.byteSize()).isEqualTo(5);
        assertThat(status.storedBytes()).isEqualTo(4096);
        assertThat(status.uid()).isEqualTo(posix.userId());
        assertThat(status.mode() & 0170000).isEqualTo(0100000);
    }

    @Test
    void statusAgreesWithTheJdk() throws IOException {
        int descriptor = posix.openForReading(file);
        FileStatus status = posix.status(descriptor);
        posix.close(descriptor);

        assertThat(status.inode()).isEqualTo(Files.getAttribute(file, "unix:ino"));
        assertThat(status.mode()).isEqualTo(Files.getAttribute(file, "unix:mode"));
        assertThat(status.isLinked()).isTrue();
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);
        assertThat(posix.status(file)).isEqualTo(status);
        assertThat(posix.status(link)).isEqualTo(status);
        assertThat(posix.status(folder).isFolder()).isTrue();
        assertFails(() -> posix.status(folder.resolve("absent")), ErrorCode.NOT_FOUND, "statx failed: ");
    }

    @Test
    void sharedLocksGoTogetherAndExclusiveOnesDoNot() {
        int first = posix.openForReading(file);
        int second = posix.openForReading(file);
        assertThat(posix.tryLockShared(first)).isTrue();
        assertThat(posix.tryLockShared(second)).isTrue();
        assertThat(posix.tryLockExclusive(first)).isFalse();

        posix.close(second);
        assertThat(posix.tryLockShared(first)).isTrue();
        assertThat(posix.tryLockExclusive(first)).isTrue();
        int third = posix.openForReading(file);
        assertThat(posix.tryLockShared(third)).isFalse();

        posix.unlock(first);
        assertThat(posix.tryLockExclusive(third)).isTrue();
        posix.close(first);
        posix.close(third);
    }

    @Test
    void locksHoldBetweenProcessesAndEndWithThem() {
        int mine = posix.openForReading(file);
        try (ChildJvm shared = ChildJvm.start(LockHolder.class, file.toString(), "shared")) {
            assertThat(shared.awaitLine()).isEqualTo("true");
            assertThat(posix.tryLockExclusive(mine)).isFalse();
            assertThat(posix.tryLockShared(mine)).isTrue();
            try (ChildJvm exclusive = ChildJvm.start(LockHolder.class, file.toString(), "exclusive")) {
                assertThat(exclusive.awaitLine()).isEqualTo("false");
            }
            shared.kill();
            assertThat(posix.tryLockExclusive(mine)).isTrue();
        } finally {
            posix.close(mine);
        }
    }

    @Test
    void anExclusiveLockOfAnotherProcessIsFreeAtOnceWhenItIsKilled() {
        int mine = posix.openForReading(file);
        try (ChildJvm child = ChildJvm.start(LockHolder.class, file.toString(), "exclusive")) {
            assertThat(child.awaitLine()).isEqualTo("true");
            assertThat(posix.tryLockShared(mine)).isFalse();
            child.kill();
            assertThat(posix.tryLockShared(mine)).isTrue();
        } finally {
            posix.close(mine);
        }
    }

    @Test
    void whatIsReservedIsStoredAndReadsAsZeros() throws IOException {
        Path reserved = folder.resolve("reserved");
        int descriptor = posix.openOrCreate(reserved, 0600);
        posix.reserve(descriptor, 0, (65L << 20) + 1);
        FileStatus status = posix.status(descriptor);
        posix.changeMode(descriptor, 0400);
        posix.close(descriptor);

        assertThat(status.byteSize()).isEqualTo((65L << 20) + 1);
        assertThat(status.storedBytes()).isBetween((65L << 20) + 1, (67L << 20));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(reserved)))
                .isEqualTo("r--------");
    }

    @Test
    void reservingMoreThanThereIsFailsBeforeAnythingIsWritten() {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=1m")) {
            int descriptor = posix.openOrCreate(tiny.folder().resolve("big"), 0600);

            assertFails(
                    () -> posix.reserve(descriptor, 4096, 2 << 20),
                    ErrorCode.NO_SPACE,
                    "posix_fallocate failed: errno=28 reason=No space left on device offset=4096 bytes=2097152");
            posix.reserve(descriptor, 0, 1 << 20);
            posix.close(descriptor);
        }
    }

    @Test
    void zerosTakeThePlaceOfAMappingAndLeaveTheFileAlone() throws IOException {
        int descriptor = posix.openForReading(file);
        long address = posix.mapReadOnly(descriptor, 0, 5);
        posix.close(descriptor);
        ByteBuffer buffer = posix.bufferOver(address, 5);
        assertThat((int) buffer.get(4)).isEqualTo(5);

        posix.replaceWithZeros(address, 5, false);

        byte[] read = new byte[5];
        buffer.get(0, read);
        assertThat(read).containsOnly(0);
        assertThat(Files.readAllBytes(file)).containsExactly(1, 2, 3, 4, 5);
        posix.unmap(address, 5);
    }

    /** From {@link PageSize#HUGE_BYTES} on, a file is mapped into a larger reservation. */
    @ParameterizedTest
    @ValueSource(longs = {1, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20})
    void mappingBeginsWithTheFirstByteOfItsStretchWhateverItsSize(long byteSize) throws IOException {
        long offset = PageSize.BYTES;
        byte[] bytes = new byte[(int) (offset + byteSize)];
        bytes[(int) offset] = 7;
        bytes[bytes.length - 1] = 7;
        int descriptor = posix.openForReading(Files.write(folder.resolve("bytes"), bytes));

        long address = posix.mapReadOnly(descriptor, offset, byteSize);

        posix.close(descriptor);
        assertThat((int) posix.bufferOver(address, 1).get(0)).isEqualTo(7);
        assertThat((int) posix.bufferOver(address + byteSize - 1, 1).get(0)).isEqualTo(7);
        posix.unmap(address, byteSize);
    }

    @Test
    void mappingsHoldMoreThanTwoGib() throws IOException {
        int descriptor = posix.openOrCreate(folder.resolve("sparse"), 0600);
        posix.reserve(descriptor, (5L << 30) - 4096, 4096);
        long address = posix.mapReadOnly(descriptor, 0, 5L << 30);
        posix.close(descriptor);

        assertThat((int) posix.bufferOver(address + (5L << 30) - 8, 8).get(7)).isZero();
        posix.adviseHugePages(address, 5L << 30); // either answer is fine
        posix.unmap(address, 5L << 30);
    }

    @Test
    void linksAreNotFollowed() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);

        assertFails(() -> posix.openForReading(link), ErrorCode.UNEXPECTED, "errno=40");
        assertFails(() -> posix.openOrCreate(link, 0600), ErrorCode.UNEXPECTED, "errno=40");
    }

    @Test
    void failuresNameTheCallItsArgumentsAndTheError() {
        Path absent = folder.resolve("absent");
        String bad = "errno=9 reason=Bad file descriptor descriptor=" + NO_DESCRIPTOR;

        assertFails(
                () -> posix.openForReading(absent),
                ErrorCode.NOT_FOUND,
                "open failed: errno=2 reason=No such file or directory file=" + absent);
        assertFails(() -> posix.close(NO_DESCRIPTOR), ErrorCode.UNEXPECTED, "close failed: " + bad);
        assertFails(() -> posix.status(NO_DESCRIPTOR), ErrorCode.UNEXPECTED, "statx failed: " + bad);
        assertFails(() -> posix.tryLockShared(NO_DESCRIPTOR), ErrorCode.UNEXPECTED, "flock failed: " + bad);
        assertFails(() -> posix.changeMode(NO_DESCRIPTOR, 0400), ErrorCode.UNEXPECTED, "fchmod failed: " + bad);
        assertFails(
                () -> posix.mapReadOnly(NO_DESCRIPTOR, 0, 9), ErrorCode.UNEXPECTED, "mmap failed: " + bad + " bytes=9");
        assertFails(() -> posix.reserve(NO_DESCRIPTOR, 0, 9), ErrorCode.UNEXPECTED, "posix_fallocate failed: errno=9");
        assertFails(() -> posix.unmap(1, 9), ErrorCode.UNEXPECTED, "munmap failed: errno=22");
    }

    @Test
    void aFileIsNoTerminal() {
        int descriptor = posix.openForReading(file);
        assertThat(posix.isTerminal(descriptor)).isFalse();
        posix.close(descriptor);
    }

    /** Reads the flag: children of the JDK close all descriptors, those of other libraries do not. */
    @Test
    void descriptorsDoNotReachChildProcesses() throws IOException {
        int[] opened = {posix.openForReading(file), posix.openForWriting(file), posix.openOrCreate(file, 0600)};
        for (int descriptor : opened) {
            String info = Files.readString(Path.of("/proc/self/fdinfo/" + descriptor));
            String flags = info.lines()
                    .filter(line -> line.startsWith("flags:"))
                    .findFirst()
                    .orElseThrow();
            posix.close(descriptor);

            assertThat(Long.parseLong(flags.substring("flags:".length()).strip(), 8) & LibC.O_CLOEXEC)
                    .isNotZero();
        }
    }

    @Test
    void aFileSystemTellsWhatItHasAndHasLeft() {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=1m,nr_inodes=50")) {
            int descriptor = posix.openOrCreate(tiny.folder().resolve("half"), 0600);
            posix.reserve(descriptor, 0, 1 << 19);
            posix.close(descriptor);

            FileSystemSpace space = posix.space(tiny.folder());

            assertThat(space).isEqualTo(new FileSystemSpace(1 << 20, 1 << 19, 50, 48));
        }
        assertFails(() -> posix.space(folder.resolve("absent")), ErrorCode.NOT_FOUND, "statvfs failed: errno=2");
    }

    @Test
    void whatCannotBecomeAnotherProgramSaysWhyAndGoesOn() {
        byte[] absent = folder.resolve("absent").toString().getBytes(StandardCharsets.UTF_8);

        assertThat(posix.become(List.of(absent)))
                .hasMessageContaining("execvp failed: errno=2")
                .extracting(LarderException::code)
                .isEqualTo(ErrorCode.NOT_FOUND);
    }

    @Test
    void aPipeDoesNotKeepWhoeverOpensIt() throws Exception {
        Path pipe = folder.resolve("pipe");
        new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor();

        int descriptor = posix.openForReading(pipe);

        assertThat(posix.status(descriptor).isRegular()).isFalse();
        posix.close(descriptor);
    }

    @Test
    void aWaitThatASignalInterruptsGoesOn() throws Exception {
        boolean isArm = System.getProperty("os.arch").equals("aarch64");
        long gettid = isArm ? 178 : 186;
        long tgkill = isArm ? 131 : 234;
        long pid = ProcessHandle.current().pid();
        int process = posix.openProcess(pid); // which does not end
        AtomicLong thread = new AtomicLong();
        CompletableFuture<Boolean> waiting = CompletableFuture.supplyAsync(() -> {
            thread.set(LibC.syscall(gettid, 0, 0, 0, 0, 0, 0));
            return posix.awaitEnd(process, Duration.ofMillis(300));
        });

        while (!waiting.isDone()) {
            if (thread.get() != 0) {
                LibC.syscall(tgkill, pid, thread.get(), SIGPIPE, 0, 0, 0); // the JVM handles and ignores it
            }
            LockSupport.parkNanos(1_000_000);
        }

        assertThat(waiting.get()).isFalse();
        posix.close(process);
    }

    private static void assertFails(ThrowingCallable call, ErrorCode code, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(message);
    }
}
