package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.layout.CountersDescriptor;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.server.metrics.Counter;
import dev.larder.testing.Folders;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Stores that are replaced, filled or damaged by others, under a daemon or between two. */
@Timeout(300)
class LostStoreTest {
    @TempDir
    Path sources;

    private final ServedStore served = ServedStore.create();

    @BeforeEach
    void start() {
        served.start();
    }

    @AfterEach
    void close() {
        served.close();
    }

    private void load(int value) {
        served.load("a", ServedStore.writeInts(sources.resolve("a.npy"), value, value));
    }

    private List<String> states() {
        return served.control().list("", true).stream()
                .map(row -> row.name() + " " + row.version() + " " + row.state().text())
                .toList();
    }

    @Tag("slow")
    @Test
    void aDaemonWhosePlaceIsFullOfOtherThingsStaysAndTakesItAgainWhenTheyAreGone() throws IOException {
        load(1);
        Folders.remove(served.root());
        Path stranger = Files.createDirectories(served.root()).resolve("stranger");
        Files.writeString(stranger, "not a store");
        Awaitility.await()
                .during(Duration.ofSeconds(2))
                .until(() -> !served.isStopped()); // the daemon looks after 1 s, and finds its place taken

        Files.delete(stranger);

        // takes some seconds: the daemon tries again after 2 s, then 4 s, at most 10 s
        Awaitility.await().until(() -> Files.exists(served.layout().socket()));
        assertThat(served.control().errors())
                .anySatisfy(error -> assertThat(error.message()).contains("folder is neither empty nor a store"));
        load(2);
        assertThat(states()).containsExactly("a/a 2 resident");
    }

    @Test
    void aDaemonWhoseLockWasRemovedIsNotDisplacedAndStopsForGood() throws IOException {
        load(1);
        Files.delete(served.layout().lock());

        assertThatThrownBy(() -> Daemon.start(new DaemonConfig(served.root(), OptionalLong.empty(), 1)))
                .hasMessageContaining("another daemon owns the store");

        Awaitility.await().until(() -> Files.exists(served.layout().lock()));
        assertThat(states()).containsExactly("a/a 1 resident");
        served.control().stop(false, progress -> {});
        assertThat(served.root()).doesNotExist();
        Awaitility.await().until(served::isStopped);
    }

    @Test
    void aStoreThatHasTakenThePlaceIsNotTouchedByAnOrderlyStop() throws IOException {
        Path others = Files.writeString(sources.resolve("lock"), "another daemon's");
        Path lock = served.layout().lock();
        Path ours = Files.move(lock, lock.resolveSibling("ours"));
        Files.copy(others, lock);

        served.control().stop(true, progress -> {});

        assertThat(lock).hasContent("another daemon's");
        assertThat(ours).content().contains("clean=false");
    }

    @Test
    void whereTheNewestVersionIsDamagedNoOlderOneTakesItsPlace() throws IOException {
        load(1);
        try (Larder larder = Larder.connect(served.root());
                Dataset first = larder.dataset("a")) {
            load(2);
            assertThat(first.version()).isEqualTo(1);
            served.control().stop(true, progress -> {});
            truncate(served.layout().version("a", 2).resolve("a.npy"));

            served.start();

            assertThat(states()).containsExactly("a 2 registered", "a/a 1 retired");
            try (Dataset again = larder.dataset("a")) {
                assertThat(again.version()).isEqualTo(3);
                assertThat(again.array("a").getInt(0)).isEqualTo(2);
            }
        }
    }

    @Test
    void whatWasEvictedStaysSoAfterARestartWhileAnOlderVersionIsRead() {
        load(1);
        try (Larder larder = Larder.connect(served.root());
                Dataset first = larder.dataset("a")) {
            load(2);
            served.control().evict("a");
            served.control().stop(true, progress -> {});

            served.start();

            assertThat(first.version()).isEqualTo(1);
            assertThat(states()).containsExactly("a 2 registered", "a/a 1 retired");
            try (Dataset again = larder.dataset("a")) {
                assertThat(again.version()).isEqualTo(2);
            }
        }
    }

    @Test
    void countersThatAreRemovedAreMadeAnewWithTheirValues() throws IOException {
        load(1);
        Files.delete(served.layout().counters());

        Awaitility.await().until(() -> Files.exists(served.layout().counters()));

        Awaitility.await()
                .untilAsserted(
                        () -> assertThat(CountersDescriptor.read(served.layout().counters())
                                        .counters())
                                .containsEntry(Counter.LOADS.label(), 1L)
                                .containsEntry(Counter.DATASETS.label(), 1L));
    }

    @Test
    void aLinkThatIsRemovedIsMadeAnewWhenSomebodyAsks() throws IOException {
        load(1);
        Files.delete(served.layout().current("a"));

        try (Larder larder = Larder.connect(served.root());
                Dataset again = larder.dataset("a")) {
            assertThat(again.version()).isEqualTo(1);
        }
        assertThat(served.control().list("", true))
                .extracting(ArrayRow::version)
                .containsExactly(1L);
    }

    private static void truncate(Path file) throws IOException {
        Files.setAttribute(file, "unix:mode", 0600);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(10);
        }
        Files.setAttribute(file, "unix:mode", 0400);
    }
}
