package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Progress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many who want the same dataset at the same time. */
class SingleFlightTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long LARGE = 512L << 20;

    @TempDir
    Path sources;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private ServedStore served;
    private Daemon daemon;

    @BeforeEach
    void start() {
        served = ServedStore.create();
        daemon = served.start();
    }

    @AfterEach
    void stop() throws InterruptedException {
        served.close();
        threads.shutdownNow();
        assertThat(threads.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void equalLoadsOfOneDatasetJoinAndAllSeeItsProgress() {
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), LARGE);
        List<CompletableFuture<Done>> loads = new ArrayList<>();
        List<Recorder> recorders = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Recorder recorder = new Recorder();
            recorders.add(recorder);
            loads.add(CompletableFuture.supplyAsync(
                    () -> served.control().load(ServedStore.request("d", source), recorder), threads));
        }

        loads.forEach(CompletableFuture::join);

        assertThat(recorders).allSatisfy(Recorder::awaitFirst);
        assertThat(served.control().list("", true)).hasSize(1);
        assertThat(ServedStore.entries(served.layout().dataset("d"))).containsExactly("1", "current");
    }

    /** As a daemon does with the datasets that it starts with. */
    @Test
    void aWaitForOneDatasetOutlivesALoadOfSeveralThatFailsIfEachIsLoadedAgain() throws InterruptedException {
        Path source = ServedStore.writeInts(sources.resolve("a.npy"), 1);
        LoadRequest both = new LoadRequest(
                List.of(
                        new LoadRequest.Source("a", source.toString()),
                        new LoadRequest.Source(
                                "b", sources.resolve("missing.npy").toString())),
                List.of(),
                0);
        CompletableFuture<Done> inVain = waitFor("a");
        assertThatThrownBy(() -> daemon.load(both, progress -> {})).hasMessageContaining("missing.npy");
        assertThatThrownBy(inVain::join).hasMessageContaining("missing.npy");

        daemon.loadedApart(Set.of("a", "b"));
        CompletableFuture<Done> first = waitFor("a");
        CompletableFuture<Done> second = waitFor("b");
        assertThatThrownBy(() -> daemon.load(both, progress -> {})).hasMessageContaining("missing.npy");
        daemon.load(ServedStore.request("a", source), progress -> {});
        assertThatThrownBy(() -> daemon.load(ServedStore.request("b", sources.resolve("missing.npy")), progress -> {}))
                .hasMessageContaining("missing.npy");

        assertThat(first.join().files()).isEqualTo(1);
        assertThatThrownBy(second::join).hasMessageContaining("missing.npy");
    }

    @Test
    void aWaitForADatasetOfTheStartEndsWithTheLoadsOfTheStart() throws InterruptedException {
        daemon.loadedApart(Set.of("a"));
        Recorder recorder = new Recorder();
        CompletableFuture<Done> wait =
                CompletableFuture.supplyAsync(() -> served.control().await("a", PATIENCE, recorder), threads);
        recorder.awaitFirst();
        CompletableFuture<Done> evenIfUnknown = waitFor("a");

        daemon.loadedApart(Set.of());

        assertThatThrownBy(wait::join).hasMessageContaining("no such dataset");
        daemon.load(ServedStore.request("a", ServedStore.writeInts(sources.resolve("a.npy"), 1)), progress -> {});
        assertThat(evenIfUnknown.join().files()).isEqualTo(1);
    }

    /** Waits in another thread; returns when the daemon has the request. */
    private CompletableFuture<Done> waitFor(String dataset) throws InterruptedException {
        Recorder recorder = new Recorder();
        CompletableFuture<Done> wait = CompletableFuture.supplyAsync(
                () -> served.control().awaitEvenIfUnknown(dataset, PATIENCE, recorder), threads);
        recorder.awaitFirst();
        return wait;
    }

    @Test
    void aLoadOfADatasetThatIsLoadedFromElsewhereIsRefused() throws Exception {
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), LARGE);
        Path other = ServedStore.writeInts(sources.resolve("b.npy"), 1);
        Recorder loading = new Recorder();
        CompletableFuture<Done> load = CompletableFuture.supplyAsync(
                () -> served.control().load(ServedStore.request("d", source), loading), threads);
        loading.awaitFirst();

        assertFails(() -> served.load("d", other), ErrorCode.REFUSED, "larder wait d");

        assertThat(load.join().files()).isEqualTo(1);
    }

    @Test
    void aLoadGoesOnForThoseWhoJoinedWhenItsFirstClientLeaves() throws Exception {
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), 2 * LARGE);
        Recorder first = new Recorder();
        Recorder second = new Recorder();
        Thread client = new Thread(() -> assertFails(
                () -> served.control().load(ServedStore.request("d", source), first), ErrorCode.INTERRUPTED, ""));
        client.start();
        first.awaitFirst();
        CompletableFuture<Done> joined = CompletableFuture.supplyAsync(
                () -> served.control().load(ServedStore.request("d", source), second), threads);
        second.awaitFirst();

        client.interrupt();
        client.join(10_000);

        assertThat(joined.join().files()).isEqualTo(1);
    }

    @Test
    void whoWaitsForALoadThatItsClientsLeaveHearsThatThereIsNoDataset() throws Exception {
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), 2 * LARGE);
        Recorder loading = new Recorder();
        Recorder waiting = new Recorder();
        Thread client = new Thread(() -> assertFails(
                () -> served.control().load(ServedStore.request("d", source), loading), ErrorCode.INTERRUPTED, ""));
        client.start();
        loading.awaitFirst();
        CompletableFuture<Void> wait = CompletableFuture.runAsync(
                () -> assertFails(
                        () -> served.control().await("d", Duration.ofMinutes(1), waiting),
                        ErrorCode.NOT_FOUND,
                        "reason=load was cancelled"),
                threads);
        waiting.awaitFirst();

        client.interrupt();

        wait.join();
        client.join(10_000);
    }

    @Test
    void loadsOfDifferentDatasetsGoSideBySide() {
        List<CompletableFuture<Done>> loads = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            String name = "d" + i;
            Path source = ServedStore.writeInts(sources.resolve(name + "/a.npy"), i);
            loads.add(CompletableFuture.supplyAsync(() -> served.load(name, source), threads));
        }

        loads.forEach(CompletableFuture::join);

        assertThat(served.control().list("", true)).hasSize(16);
    }

    @Test
    void whoWaitsForALoadSeesItsProgressAndItsEnd() throws Exception {
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), LARGE);
        Recorder loading = new Recorder();
        CompletableFuture<Done> load = CompletableFuture.supplyAsync(
                () -> served.control().load(ServedStore.request("d", source), loading), threads);
        loading.awaitFirst();

        List<Recorder> recorders = new ArrayList<>();
        List<CompletableFuture<Done>> waits = new ArrayList<>();
        for (String name : List.of("d", "d/a", "d")) {
            Recorder recorder = new Recorder();
            recorders.add(recorder);
            waits.add(CompletableFuture.supplyAsync(() -> served.control().await(name, PATIENCE, recorder), threads));
        }

        waits.forEach(CompletableFuture::join);
        assertThat(load.join().bytes()).isEqualTo(LARGE);
        assertThat(recorders).allSatisfy(recorder -> recorder.awaitFirst());
    }

    @Test
    void clientsOpenWhatIsStillLoading() throws Exception {
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), LARGE);
        Recorder loading = new Recorder();
        CompletableFuture<Done> load = CompletableFuture.supplyAsync(
                () -> served.control().load(ServedStore.request("d", source), loading), threads);
        loading.awaitFirst();

        try (Larder larder = Larder.connect(served.root());
                OwnedArrayView view = larder.open("d/a")) {
            assertThat(view.byteSize()).isEqualTo(LARGE);
        }
        load.join();
    }

    @Test
    void whoWaitsForALoadThatFailsIsToldWhy() throws Exception {
        CompletableFuture<Done> wait = awaitUnknown("d", PATIENCE);
        assertFails(() -> served.load("d", sources.resolve("absent.npy")), ErrorCode.BAD_INPUT, "absent.npy");

        assertThatThrownBy(wait::join)
                .cause()
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("absent.npy");
    }

    @Test
    void anUnknownDatasetFailsAtOnceUnlessOneWaitsForItAllTheSame() throws Exception {
        assertFails(() -> served.control().await("d", PATIENCE, progress -> {}), ErrorCode.NOT_FOUND, "dataset=d");
        CompletableFuture<Done> wait = awaitUnknown("d", PATIENCE);

        served.load("d", ServedStore.writeInts(sources.resolve("a.npy"), 1));

        assertThat(wait.get(60, TimeUnit.SECONDS).files()).isEqualTo(1);
    }

    @Test
    void whoWaitsForOneArrayIsNotContentWithTheOthers() throws Exception {
        CompletableFuture<Done> wait = awaitUnknown("d/missing", Duration.ofSeconds(10));

        served.load("d", ServedStore.writeInts(sources.resolve("a.npy"), 1));

        assertThatThrownBy(() -> wait.get(60, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isIn(ErrorCode.NOT_FOUND, ErrorCode.DEADLINE));
    }

    @Test
    void aWaitEndsAtItsDeadline() {
        long start = System.nanoTime();

        assertFails(
                () -> served.control().awaitEvenIfUnknown("d", Duration.ofMillis(200), progress -> {}),
                ErrorCode.DEADLINE,
                "timeoutMs=200");

        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isBetween(Duration.ofMillis(200), Duration.ofSeconds(30));
    }

    @Test
    void aWaitForALoadThatTakesLongerEndsAtItsDeadlineAndTheLoadGoesOn() throws Exception {
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), LARGE);
        Recorder loading = new Recorder();
        CompletableFuture<Done> load = CompletableFuture.supplyAsync(
                () -> served.control().load(ServedStore.request("d", source), loading), threads);
        loading.awaitFirst();

        assertFails(() -> served.control().await("d", Duration.ofMillis(1), progress -> {}), ErrorCode.DEADLINE, "d");

        assertThat(load.join().files()).isEqualTo(1);
    }

    @Test
    void aLoadWhoseClientLeavesIsCancelledAndLeavesNothing() throws Exception {
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), 2 * LARGE);
        Recorder loading = new Recorder();
        Thread client = new Thread(() -> {
            try {
                served.control().load(ServedStore.request("d", source), loading);
            } catch (LarderException interrupted) {
                assertThat(interrupted.code()).isEqualTo(ErrorCode.INTERRUPTED);
            }
        });
        client.start();
        loading.awaitFirst();

        client.interrupt();
        client.join(10_000);

        Path small = ServedStore.writeInts(sources.resolve("b.npy"), 1);
        Awaitility.await()
                .ignoreExceptions()
                .until(() -> served.load("d", small).files() == 1);
        assertThat(served.control().list("", true))
                .extracting(ArrayRow::version)
                .containsExactly(1L);
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
    }

    @Test
    void noWaitIsLostBetweenAskingAndTheStartOfALoad() throws Exception {
        for (int round = 0; round < 150; round++) {
            String name = "d" + round;
            Path source = ServedStore.writeInts(sources.resolve(name + ".npy"), round);
            CompletableFuture<Done> wait = CompletableFuture.supplyAsync(
                    () -> served.control().awaitEvenIfUnknown(name, PATIENCE, progress -> {}), threads);

            daemon.load(ServedStore.request(name, source), progress -> {});

            assertThat(wait.get(60, TimeUnit.SECONDS).files()).isEqualTo(1);
        }
    }

    private CompletableFuture<Done> awaitUnknown(String name, Duration timeout) throws InterruptedException {
        Recorder recorder = new Recorder();
        CompletableFuture<Done> wait = CompletableFuture.supplyAsync(
                () -> served.control().awaitEvenIfUnknown(name, timeout, recorder), threads);
        recorder.awaitFirst();
        return wait;
    }

    private static void assertFails(ThrowingCallable call, ErrorCode code, String message) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(message);
    }

    private static final class Recorder implements ProgressListener {
        private final CountDownLatch first = new CountDownLatch(1);

        @Override
        public void progress(Progress progress) {
            first.countDown();
        }

        void awaitFirst() throws InterruptedException {
            assertThat(first.await(60, TimeUnit.SECONDS)).isTrue();
        }
    }
}
