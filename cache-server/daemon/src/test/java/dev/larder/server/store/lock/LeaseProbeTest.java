package dev.larder.server.store.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.LockHolder;
import dev.larder.testing.RefusingPosix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeaseProbeTest {
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
    void aReaderInAnotherProcessIsSeenNamedAndForgottenWhenItDies() {
        assertThat(probe.isLeased(version)).isFalse();
        try (ChildJvm reader = ChildJvm.start(LockHolder.class, lease.toString(), "shared")) {
            assertThat(reader.awaitLine()).isEqualTo("true");

            assertThat(probe.isLeased(version)).isTrue();
            assertThat(probe.holders(version)).containsExactly(reader.pid());
            assertThat(probe.holders(List.of(version))).isEqualTo(Map.of(version, List.of(reader.pid())));
            assertThat(probe.runUnleased(version, isLocked -> {
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

        assertThat(probe.runUnleased(version, isLocked -> taken.add(posix.tryLockShared(reader))))
                .isTrue();

        assertThat(taken).containsExactly(false);
        assertThat(posix.tryLockShared(reader)).isTrue();
        posix.close(reader);
    }

    @Test
    void aLeaseThatIsReplacedBeforeItIsLockedCountsAsNone() {
        LeaseProbe racing = new LeaseProbe(RefusingPosix.before("tryLockExclusive", this::replaceTheLease));
        List<Boolean> seen = new ArrayList<>();

        racing.runUnleased(version, seen::add);

        assertThat(seen).containsExactly(false);
    }

    private void replaceTheLease() {
        try {
            Files.delete(lease);
            Files.createFile(lease);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void ourOwnQuestionsKeepUsFromReadingNothing() throws Exception {
        AtomicBoolean hasEnded = new AtomicBoolean();
        Thread asking = new Thread(() -> {
            while (!hasEnded.get()) {
                probe.state(version);
            }
        });
        asking.start();

        int read = 0;
        for (int i = 0; i < 20_000; i++) {
            read += probe.runLeased(version, () -> {}) ? 1 : 0;
        }
        hasEnded.set(true);
        asking.join();

        assertThat(read).isEqualTo(20_000);
    }

    @Test
    void whatIsGoneIsNotLeased() throws IOException {
        Files.delete(lease);

        assertThat(probe.isLeased(version)).isFalse();
        assertThat(probe.holders(version)).isEmpty();
        assertThat(probe.runUnleased(version, isLocked -> !isLocked)).isTrue();
    }
}
