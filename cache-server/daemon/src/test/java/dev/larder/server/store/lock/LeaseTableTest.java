package dev.larder.server.store.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.FileStatus;
import dev.larder.internal.posix.Posix;
import dev.larder.server.store.lock.LeaseTable.HeldVersion;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.LockHolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

class LeaseTableTest {
    private static final FileStatus FILE = new FileStatus(0, 0x1a, 99, 1, 0, 0100400, 0, 0, 0, 0);

    @TempDir
    Path store;

    private Path lease() throws IOException {
        Path version = Files.createDirectories(store.resolve("data/d/3"));
        return Files.createFile(version.resolve(StoreLayout.LEASE));
    }

    private LeaseTable leases() {
        return LeaseTable.of(new StoreLayout(store));
    }

    @Test
    void theOwnerOfAFileIsWhoHasItsExclusiveLock() {
        LockTable locks = LockTable.of(Stream.of(
                "1: FLOCK  ADVISORY  READ 12 00:1a:99 0 EOF",
                "2: FLOCK  ADVISORY  WRITE 16 00:1a:99 0 EOF",
                "2: -> FLOCK  ADVISORY  WRITE 17 00:1a:99 0 EOF"));

        assertThat(locks.owner(FileNumber.of(FILE))).hasValue(16);
        assertThat(locks.readers(FILE)).containsExactly(12L);
        assertThat(LockTable.of(Stream.of()).owner(FileNumber.of(FILE))).isEmpty();
    }

    @Test
    void readersAreWhoHasASharedLockOnTheVeryFile() {
        LockTable locks = LockTable.of(Stream.of(
                "1: POSIX  ADVISORY  READ 10 00:1a:99 0 EOF",
                "2: FLOCK  ADVISORY  READ 4711 00:1a:99 0 EOF",
                "3: FLOCK  ADVISORY  READ 12 00:1a:99 0 EOF",
                "4: FLOCK  ADVISORY  READ 12 00:1a:99 0 EOF",
                "5: FLOCK  ADVISORY  READ 13 00:1a:999 0 EOF",
                "6: FLOCK  ADVISORY  READ 14 00:2a:99 0 EOF",
                "7: FLOCK  ADVISORY  READ 15 08:1a:99 0 EOF",
                "8: FLOCK  ADVISORY  WRITE 16 00:1a:99 0 EOF",
                "8: -> FLOCK  ADVISORY  WRITE 17 00:1a:99 0 EOF",
                "9: FLOCK  ADVISORY  READ 0 00:1a:99 0 EOF",
                "10: FLOCK  ADVISORY  READ -1 00:1a:99 0 EOF",
                "nonsense",
                ""));

        assertThat(locks.readers(FILE)).containsExactly(12L, 4711L);
    }

    @Test
    void aVersionIsHeldByWhoHasItsLeaseWithoutAnyDaemon() throws IOException {
        Path lease = lease();
        assertThat(leases().held()).isEmpty();
        try (ChildJvm reader = ChildJvm.start(LockHolder.class, lease.toString(), "shared")) {
            assertThat(reader.awaitLine()).isEqualTo("true");

            assertThat(leases().held()).containsExactly(new HeldVersion("d", 3, 0, List.of(reader.pid())));
        }
    }

    @Test
    void aVersionWhoseIndexIsDamagedIsHeldAllTheSame() throws IOException {
        Path lease = lease();
        Files.writeString(lease.resolveSibling(StoreLayout.INDEX), "no index at all");
        int reader = Posix.system().openForReading(lease);
        assertThat(Posix.system().tryLockShared(reader)).isTrue();

        assertThat(leases().held())
                .containsExactly(new HeldVersion(
                        "d", 3, 0, List.of(ProcessHandle.current().pid())));
        Posix.system().close(reader);
    }

    @Test
    void aChildThatHoldsOnWhatItsDeadParentTookIsFound() throws Exception {
        String script = """
                import fcntl, os, signal, sys
                result, answer = os.pipe()
                parent = os.fork()
                if parent == 0:
                    lease = open(sys.argv[1])
                    fcntl.flock(lease, fcntl.LOCK_SH)
                    child = os.fork()
                    if child == 0:
                        signal.pause()
                    os.write(answer, str(child).encode())
                    os._exit(0)
                os.waitpid(parent, 0)
                child = int(os.read(result, 20))
                print(child, flush=True)
                sys.stdin.read()
                os.kill(child, signal.SIGKILL)
                """;
        Process family = python(script, lease());
        long child = Long.parseLong(family.inputReader().readLine());
        try {
            assertThat(leases().held().get(0).pids()).containsExactly(child);
        } finally {
            family.getOutputStream().close(); // then it kills the child, and ends
            assertThat(family.waitFor()).isZero();
        }
    }

    private static Process python(String script, Path file) {
        try {
            return new ProcessBuilder("/usr/bin/python3", "-c", script, file.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException noPython) {
            throw new TestAbortedException("needs python3: " + noPython);
        }
    }

    @Test
    void theDaemonIsWhoHasTheLockOfTheStore() throws IOException {
        Path lock = new StoreLayout(store).lock();
        assertThat(leases().daemonPid()).isEmpty();
        int descriptor = Posix.system().openOrCreate(lock, 0600);

        assertThat(leases().daemonPid()).isEmpty();
        assertThat(Posix.system().tryLockExclusive(descriptor)).isTrue();
        assertThat(leases().daemonPid()).hasValue(ProcessHandle.current().pid());
        Posix.system().close(descriptor);
    }

    @Test
    void whereThereIsNoStoreThereIsNoDaemon() {
        assertThatThrownBy(() -> leases().held())
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_DAEMON))
                .hasMessageContaining("store=" + store);
    }
}
