package dev.larder.server;

import static dev.larder.server.StoreKind.EXT4;
import static dev.larder.server.StoreKind.OVERLAY;
import static dev.larder.server.StoreKind.TMPFS_ADVISE;
import static dev.larder.server.StoreKind.TMPFS_ALWAYS;
import static dev.larder.server.StoreKind.TMPFS_NEVER;
import static dev.larder.server.StoreKind.USUAL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Rounds;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** A daemon that is killed at some moment of a load: afterwards there is nothing, or the whole version. */
class KilledLoadTest {
    private static final int BYTES = 32 << 20;
    private static final int LONGEST_DELAY_MS = 40;

    @TempDir
    Path sources;

    @StoreMatrix(on = TMPFS_NEVER, size = "80m")
    void nothingOrTheWholeVersionIsThereAfterwards(ServedStore served) throws Exception {
        killWhileLoading(served, 3);
    }

    @Tag("slow")
    @StoreMatrix(
            on = {USUAL, TMPFS_ADVISE, TMPFS_ALWAYS, EXT4, OVERLAY},
            size = "80m")
    void nothingOrTheWholeVersionIsThereAfterwardsOnOtherFileSystems(ServedStore served) throws Exception {
        killWhileLoading(served, 5);
    }

    private void killWhileLoading(ServedStore served, int usualRounds) throws Exception {
        ServedStore.writeBytes(sources.resolve("a.npy"), BYTES);
        ServedStore.writeBytes(sources.resolve("folder/b.npy"), BYTES / 4);
        Rounds rounds = Rounds.of("killed loads", usualRounds, 20_260_113);
        int whole = 0;
        for (int round = 0; round < rounds.count(); round++) {
            long delayNs = round == 0 ? 0 : rounds.momentNs(LONGEST_DELAY_MS);
            killWhileLoading(served, delayNs);
            try {
                whole += datasetsAfterRestart(served);
            } catch (AssertionError | LarderException e) {
                throw new AssertionError(rounds + " round=" + round + " delayNs=" + delayNs, e);
            }
        }
        assertThat(whole)
                .as("rounds in which the load was over before the kill")
                .isLessThan(rounds.count());
    }

    private void killWhileLoading(ServedStore served, long delayNs) throws Exception {
        CountDownLatch underWay = new CountDownLatch(1);
        try (ChildJvm child = served.startProcess(Long.toString(ServedStore.ANY_CAPACITY))) {
            CompletableFuture<Void> load = CompletableFuture.runAsync(
                    () -> served.control().load(ServedStore.request("d", sources), progress -> underWay.countDown()));
            assertThat(underWay.await(60, TimeUnit.SECONDS)).isTrue();
            LockSupport.parkNanos(delayNs); // to kill it at any moment of a load
            child.kill();
            load.handle((done, failure) -> failure == null || isLostDaemon(failure.getCause()))
                    .thenAccept(expected -> assertThat(expected).isTrue())
                    .get(60, TimeUnit.SECONDS);
        }
    }

    private static boolean isLostDaemon(@Nullable Throwable failure) {
        return failure instanceof LarderException known && known.code() == ErrorCode.NO_DAEMON;
    }

    /** Returns how many there are, 0 or 1. */
    private static int datasetsAfterRestart(ServedStore served) {
        try (Daemon daemon = served.start(OptionalLong.of(ServedStore.ANY_CAPACITY))) {
            assertThat(StoreInsides.problems(served)).isEmpty();
            List<ArrayRow> rows = served.control().list("", true);
            if (!rows.isEmpty()) {
                assertThat(rows).extracting(ArrayRow::name).containsExactly("d/a", "d/folder/b");
                assertThat(ServedStore.entries(daemon.layout().dataset("d"))).containsExactly("1", "current");
            }
            return Math.min(1, rows.size());
        } finally {
            assertThat(served.root()).doesNotExist();
        }
    }
}
