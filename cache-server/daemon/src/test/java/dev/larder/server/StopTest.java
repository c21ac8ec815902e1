package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.Progress;
import dev.larder.server.store.CleanUp;
import dev.larder.server.store.Store;
import dev.larder.testing.BusyMachine;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.TinyTmpfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Daemons that are stopped while something is going on. */
class StopTest {
    private static final int SEED = 20_260_101;
    private static final Duration BOUND = Duration.ofSeconds(2);

    /** Hardly a second of copying, and too much to be over by chance. */
    private static final long LARGE = 1L << 30;

    @TempDir
    Path sources;

    private ServedStore served;

    @BeforeEach
    void create() {
        served = ServedStore.create();
    }

    @AfterEach
    void close() {
        served.close();
    }

    @Test
    void aStoreThatIsAMountOfItsOwnIsEmptiedAndStays() {
        try (TinyTmpfs tiny = TinyTmpfs.mount("size=32m")) {
            for (int start = 0; start < 2; start++) {
                Daemon daemon = Daemon.start(new DaemonConfig(tiny.folder(), OptionalLong.empty(), 1));
                assertThat(ServedStore.entries(tiny.folder())).contains("daemon.lock");

                daemon.stop(false);

                assertThat(tiny.folder()).isEmptyDirectory();
            }
        }
    }

    @Test
    void aLoadThatIsStoppedFailsAsInterruptedAndLeavesNothing() throws Exception {
        Daemon daemon = served.start();
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), LARGE);
        CompletableFuture<?> load = loadInBackground(source);

        long start = System.nanoTime();
        daemon.stop(false);
        Duration took = Duration.ofNanos(System.nanoTime() - start);

        assertThat(took).isLessThan(BusyMachine.boundOr(BOUND));
        assertThat(failureOf(load).code()).isIn(ErrorCode.INTERRUPTED, ErrorCode.NO_DAEMON);
        assertThat(served.root()).doesNotExist();
    }

    @Test
    void aLoadOfTheDaemonsOwnProcessIsInterruptedToo() throws Exception {
        Daemon daemon = served.start();
        Path source = ServedStore.writeHole(sources.resolve("a.npy"), LARGE);
        Latch underWay = new Latch(Progress.Phase.LOADING);
        CompletableFuture<?> load =
                CompletableFuture.runAsync(() -> daemon.load(ServedStore.request("d", source), underWay));
        underWay.await();

        CleanUp cleanUp = daemon.stop(false);

        assertThat(failureOf(load).code()).isEqualTo(ErrorCode.INTERRUPTED);
        assertThat(cleanUp.heldUntilExitBytes()).isZero();
        assertThat(served.root()).doesNotExist();
    }

    @Test
    void atWhateverMomentADaemonIsStoppedNothingIsLeft() throws Exception {
        Random random = new Random(SEED);
        ServedStore.writeHole(sources.resolve("a.npy"), 96 << 20);
        ServedStore.writeInts(sources.resolve("folder/b.npy"), 1, 2, 3);
        for (int round = 0; round < 25; round++) {
            long delayNs = random.nextLong(TimeUnit.MILLISECONDS.toNanos(120));
            Daemon daemon = served.start();
            CompletableFuture<?> load = CompletableFuture.runAsync(() -> served.load("d", sources));
            LockSupport.parkNanos(delayNs); // to stop it at any moment of a load

            long start = System.nanoTime();
            daemon.stop(false);
            Duration took = Duration.ofNanos(System.nanoTime() - start);

            String when = "seed=" + SEED + " round=" + round + " delayNs=" + delayNs;
            assertThat(took).as(when).isLessThan(BusyMachine.boundOr(BOUND));
            assertThat(served.root()).as(when).doesNotExist();
            load.handle((done, failure) -> done).get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void whoWaitsIsToldThatTheDaemonStops() throws Exception {
        Daemon daemon = served.start();
        List<CompletableFuture<?>> waits = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Latch waiting = new Latch(Progress.Phase.WAITING);
            waits.add(CompletableFuture.runAsync(
                    () -> served.control().awaitEvenIfUnknown("d", Duration.ofMinutes(1), waiting),
                    task -> new Thread(task).start())); // the common pool of two cores has one thread
            waiting.await();
        }

        daemon.stop(false);

        for (CompletableFuture<?> wait : waits) {
            LarderException failure = failureOf(wait);
            assertThat(failure.code()).isEqualTo(ErrorCode.NO_DAEMON);
            assertThat(failure).hasMessageContaining("daemon is stopping").hasMessageContaining("larder serve");
        }
    }

    @Test
    void severalWhoStopAllGetTheSameAnswer() {
        Daemon daemon = served.start();
        served.load("d", ServedStore.writeInts(sources.resolve("a.npy"), 1));

        List<CompletableFuture<CleanUp>> stops = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            stops.add(CompletableFuture.supplyAsync(() -> daemon.stop(false)));
        }

        assertThat(stops).extracting(CompletableFuture::join).containsOnly(daemon.awaitStop());
        assertThat(daemon.awaitStop().files()).isGreaterThanOrEqualTo(4);
    }

    @Test
    void aStoppedDaemonIsGoneForItsClients() {
        served.start().stop(false);

        assertThatThrownBy(() -> served.control().status())
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_DAEMON));
    }

    @Test
    void aDaemonInItsOwnProcessEndsWhenAClientStopsIt() {
        ChildJvm child = served.startProcess();
        served.load("d", ServedStore.writeInts(sources.resolve("a.npy"), 1));

        assertThat(served.control().stop(false, progress -> {}).files()).isGreaterThanOrEqualTo(4);

        assertThat(child.awaitLine(DaemonProgram.STOPPED)).isEqualTo(DaemonProgram.STOPPED);
        assertThat(child.awaitExit()).isZero();
        assertThat(served.root()).doesNotExist();
    }

    @Test
    void aLinkIsRefusedAndItsTargetNotTouched(@TempDir Path folder) throws IOException {
        Path target = Files.createDirectory(folder.resolve("target"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), target);

        assertThatThrownBy(() -> Store.open(new StoreLayout(link), OptionalLong.empty(), Optional.empty()))
                .isInstanceOf(LarderException.class)
                .hasMessageStartingWith("the store is a link: store=" + link + " target=" + target);
        assertThat(target).isEmptyDirectory();
    }

    @Test
    void aFolderThatHoldsSomethingElseIsRefusedAndNotTouched() throws IOException {
        Path file = Files.writeString(served.root().resolve("thesis.tex"), "mine");

        assertThatThrownBy(() -> served.start())
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED))
                .hasMessageContaining("neither empty nor a store")
                .hasMessageContaining("thesis.tex");
        assertThat(ServedStore.entries(served.root())).containsExactly("thesis.tex");
        assertThat(Files.readString(file)).isEqualTo("mine");
    }

    @Test
    void aFileInPlaceOfTheFolderIsRefused() throws IOException {
        Path file = Files.writeString(served.root().resolve("file"), "mine");
        DaemonConfig config = new DaemonConfig(file, OptionalLong.empty(), 1);

        assertThatThrownBy(() -> Daemon.start(config))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.REFUSED));
        assertThat(Files.readString(file)).isEqualTo("mine");
    }

    @Test
    void filesThatAreNotOursSurviveAStop() throws IOException {
        Daemon daemon = served.start();
        served.load("d", ServedStore.writeInts(sources.resolve("a.npy"), 1));
        Path mine = Files.writeString(served.root().resolve("notes"), "mine");
        Path folder = Files.createDirectories(served.root().resolve("folder/inner"));

        daemon.stop(false);

        assertThat(ServedStore.entries(served.root())).containsExactly("folder", "notes");
        assertThat(mine).hasContent("mine");
        assertThat(folder).isDirectory();
    }

    @Test
    void linksInTheStoreAreRemovedAndNotFollowed() throws IOException {
        Daemon daemon = served.start();
        Path outside = Files.writeString(sources.resolve("outside"), "not in the store");
        Files.createSymbolicLink(served.layout().data().resolve("link"), sources);
        Files.createSymbolicLink(served.layout().incoming().resolve("link"), sources);

        daemon.stop(false);

        assertThat(outside).hasContent("not in the store");
        assertThat(served.root()).doesNotExist();
    }

    private CompletableFuture<?> loadInBackground(Path source) throws InterruptedException {
        Latch underWay = new Latch(Progress.Phase.LOADING);
        CompletableFuture<?> load =
                CompletableFuture.runAsync(() -> served.control().load(ServedStore.request("d", source), underWay));
        underWay.await();
        return load;
    }

    private static LarderException failureOf(CompletableFuture<?> future) throws Exception {
        try {
            future.handle((done, failure) -> done).get(60, TimeUnit.SECONDS);
            future.join();
            throw new AssertionError("it did not fail");
        } catch (CompletionException e) {
            if (e.getCause() instanceof LarderException failure) {
                return failure;
            }
            throw e;
        }
    }

    /** Opens when an exchange has come to a phase. */
    private static final class Latch implements ProgressListener {
        private final Progress.Phase phase;
        private final CountDownLatch reached = new CountDownLatch(1);

        Latch(Progress.Phase phase) {
            this.phase = phase;
        }

        @Override
        public void progress(Progress progress) {
            if (progress.phase() == phase) {
                reached.countDown();
            }
        }

        void await() throws InterruptedException {
            assertThat(reached.await(60, TimeUnit.SECONDS)).isTrue();
        }
    }
}
