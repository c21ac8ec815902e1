package dev.larder.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.layout.StoreLayout;
import dev.larder.posix.FileStatus;
import dev.larder.posix.Posix;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.LockHolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeaseProbeTest {
    private static final FileStatus FILE = new FileStatus(0, 0x1a, 99, 1, 0, 0100400, 0, 0, 0);

    private final Posix posix = Posix.system();
    private final LeaseProbe probe = new LeaseProbe(posix);

    @TempDir
    Path version;

    private Path lease;

    @BeforeEach
    void create() throws IOException {
        lease = Files.createFile(version.resolve(StoreLayout.LEASE));
    }

    @Test
    void holdersAreWhoHasASharedLockOnTheVeryFile() {
        List<String> locks = List.of(
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
                "");

        assertThat(LeaseProbe.holders(FILE, locks)).containsExactly(12L, 4711L);
        assertThat(LeaseProbe.holders(FILE, List.of())).isEmpty();
    }

    @Test
    void aReaderInAnotherProcessIsSeenNamedAndForgottenWhenItDies() {
        assertThat(probe.isLeased(version)).isFalse();
        try (ChildJvm reader = ChildJvm.start(LockHolder.class, lease.toString(), "shared")) {
            assertThat(reader.awaitLine()).isEqualTo("true");

            assertThat(probe.isLeased(version)).isTrue();
            assertThat(probe.holders(version)).containsExactly(reader.pid());
            assertThat(probe.holders(List.of(version))).isEqualTo(Map.of(version, List.of(reader.pid())));
            assertThat(probe.runUnleased(version, () -> {
                        throw new AssertionError("leased");
                    }))
                    .isFalse();
        }
        assertThat(probe.isLeased(version)).isFalse();
        assertThat(probe.holders(version)).isEmpty();
    }

    @Test
    void nobodyCanLeaseWhileAnUnleasedVersionIsChanged() {
        int reader = posix.openForReading(lease);
        List<Boolean> taken = new ArrayList<>();

        assertThat(probe.runUnleased(version, () -> taken.add(posix.tryLockShared(reader))))
                .isTrue();

        assertThat(taken).containsExactly(false);
        assertThat(posix.tryLockShared(reader)).isTrue();
        posix.close(reader);
    }

    @Test
    void whatIsGoneIsNotLeased() throws IOException {
        Files.delete(lease);

        assertThat(probe.isLeased(version)).isFalse();
        assertThat(probe.holders(version)).isEmpty();
        assertThat(probe.runUnleased(version, () -> {})).isTrue();
    }
}
