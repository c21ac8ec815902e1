package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Rounds;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A daemon that is killed at some moment of a load: afterwards there is nothing, or the whole version. */
@Tag("slow")
class KilledLoadTest {
    private static final int BYTES = 64 << 20;
    private static final long LONGEST_DELAY_NS = TimeUnit.MILLISECONDS.toNanos(90);

    @TempDir
    Path sources;

    private ServedStore served;

    @BeforeEach
    void create() {
        served = ServedStore.create();
        ServedStore.writeBytes(sources.resolve("a.npy"), BYTES);
        ServedStore.writeBytes(sources.resolve("folder/b.npy"), BYTES / 4);
    }

    @AfterEach
    void close() {
        served.close();
    }

    @Test
    void nothingOrTheWholeVersionIsThereAfterwards() throws Exception {
        Rounds rounds = Rounds.of("killed loads", 5, 20_260_113);
        int whole = 0;
        for (int round = 0; round < rounds.count(); round++) {
            long delayNs = rounds.random().nextLong(LONGEST_DELAY_NS);
            killWhileLoading(delayNs);
            try {
                whole += datasetsAfterRestart();
            } catch (AssertionError | LarderException e) {
                throw new AssertionError(rounds + " round=" + round + " delayNs=" + delayNs, e);
            }
        }
        assertThat(whole)
                .as("rounds in which the load was over before the kill")
                .isLessThan(rounds.count());
    }

    private void killWhileLoading(long delayNs) throws Exception {
        CountDownLatch underWay = new CountDownLatch(1);
        try (ChildJvm child = served.startProcess()) {
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

    /** Returns how many there are, 0 or 1, after checking that this one is whole. */
    private int datasetsAfterRestart() {
        try (Daemon daemon = served.start()) {
            List<ArrayRow> rows = served.control().list("", true);
            assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
            if (rows.isEmpty()) {
                assertThat(ServedStore.entries(served.layout().data())).isEmpty();
                return 0;
            }
            assertThat(rows).extracting(ArrayRow::name).containsExactly("d/a", "d/folder/b");
            assertThat(served.control().verify("", progress -> {}).bytes()).isEqualTo(BYTES + BYTES / 4);
            assertThat(ServedStore.entries(daemon.layout().dataset("d"))).containsExactly("1", "current");
            return 1;
        } finally {
            assertThat(Files.exists(served.root())).isFalse();
        }
    }
}
