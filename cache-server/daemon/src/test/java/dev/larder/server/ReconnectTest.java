package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.Progress;
import dev.larder.npy.Dtype;
import dev.larder.testing.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients whose daemon is killed under them. */
@Timeout(300)
class ReconnectTest {
    private static final Dtype FLOAT = Dtype.parse("<f4");

    @TempDir
    Path sources;

    private final ServedStore served = ServedStore.create();

    @AfterEach
    void close() {
        served.close();
    }

    @Test
    void whoWaitsWhenTheDaemonIsKilledGoesOnWaitingAtTheNextOne() throws Exception {
        ChildJvm first = served.startProcess();
        CountDownLatch waiting = new CountDownLatch(1);
        CompletableFuture<Void> wait = CompletableFuture.runAsync(() -> served.control()
                .awaitEvenIfUnknown("d", Duration.ofMinutes(2), (Progress progress) -> waiting.countDown()));
        assertThat(waiting.await(60, TimeUnit.SECONDS)).isTrue();

        first.kill();
        served.start();
        served.load("d", ServedStore.writeInts(sources.resolve("d.npy"), 5));

        assertThat(wait).succeedsWithin(Duration.ofMinutes(1));
    }

    @Test
    void whoWaitsForADaemonThatDoesNotComeBackHasItsTimeAndNoMore() throws Exception {
        ChildJvm first = served.startProcess();
        CountDownLatch waiting = new CountDownLatch(1);
        CompletableFuture<Void> wait = CompletableFuture.runAsync(() -> served.control()
                .awaitEvenIfUnknown("d", Duration.ofSeconds(3), (Progress progress) -> waiting.countDown()));
        assertThat(waiting.await(60, TimeUnit.SECONDS)).isTrue();

        first.kill();

        assertThatThrownBy(() -> wait.get(60, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_DAEMON));
    }

    @Test
    void whoWaitsHearsOnceThatTheDaemonIsGone() throws Exception {
        ChildJvm first = served.startProcess();
        List<String> messages = new CopyOnWriteArrayList<>();
        CompletableFuture<Void> wait = CompletableFuture.runAsync(() -> served.control()
                .awaitEvenIfUnknown("d", Duration.ofMinutes(2), progress -> messages.add(progress.message())));
        await().atMost(1, TimeUnit.MINUTES).until(() -> !messages.isEmpty());

        first.kill();
        await().atMost(1, TimeUnit.MINUTES).until(() -> messages.stream().anyMatch(text -> text.contains("is gone")));
        served.start();
        served.load("d", ServedStore.writeInts(sources.resolve("d.npy"), 5));

        assertThat(wait).succeedsWithin(Duration.ofMinutes(1));
        assertThat(messages)
                .filteredOn(text -> text.startsWith("the daemon is gone, waiting for another: store=" + served.root()))
                .hasSize(1);
    }

    @Test
    void whatIsResidentIsOpenedAndReadWhileTheDaemonIsDead() {
        ChildJvm first = served.startProcess();
        served.load("d", ServedStore.writeInts(sources.resolve("d.npy"), 5));
        try (Larder larder = Larder.connect(served.root());
                OwnedArrayView before = larder.open("d")) {
            first.kill();
            try (OwnedArrayView after = larder.open("d")) {
                assertThat(after.getInt(0)).isEqualTo(5);
            }
            assertThat(before.getInt(0)).isEqualTo(5);
            assertThatThrownBy(() -> larder.open("other"))
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_DAEMON));
        }
    }

    @Test
    void aBuilderWhoseDaemonWasKilledPutsNothingIntoTheStoreOfTheNextOne() {
        ChildJvm first = served.startProcess();
        try (Larder larder = Larder.connect(served.root());
                DatasetBuilder builder = larder.build("made")) {
            builder.array("a", FLOAT, 8).write(0, 1.5f);
            first.kill();
            served.startProcess();

            assertThatThrownBy(() -> builder.array("b", FLOAT, 8)).satisfies(ReconnectTest::requireNoDaemon);
            assertThatThrownBy(() -> builder.array("level/c", FLOAT, 8)).satisfies(ReconnectTest::requireNoDaemon);
            assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
        }
    }

    @Test
    void aBuilderWhoseDaemonHasStoppedDoesNotBringTheStoreBack() {
        ChildJvm daemon = served.startProcess();
        try (Larder larder = Larder.connect(served.root());
                DatasetBuilder builder = larder.build("made")) {
            served.control().stop(false, progress -> {});
            daemon.awaitExit();

            assertThatThrownBy(() -> builder.array("b", FLOAT, 8)).satisfies(ReconnectTest::requireNoDaemon);
            assertThat(served.root()).doesNotExist();
        }
    }

    private static void requireNoDaemon(Throwable failure) {
        assertThat(failure)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_DAEMON));
    }
}
