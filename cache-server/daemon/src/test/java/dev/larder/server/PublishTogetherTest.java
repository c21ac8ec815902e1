package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.internal.protocol.LoadRequest;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loads of several datasets, of which one cannot be made visible. */
class PublishTogetherTest {
    @TempDir
    Path sources;

    private ServedStore served;
    private Path first;
    private Path second;

    @BeforeEach
    void start() {
        served = ServedStore.create();
        served.start();
        first = ServedStore.writeInts(sources.resolve("first.npy"), 1);
        second = ServedStore.writeInts(sources.resolve("second.npy"), 2);
    }

    @AfterEach
    void stop() {
        served.close();
    }

    @Test
    void allBecomeVisible() {
        loadBoth();

        assertThat(served.control().list("", true)).hasSize(2);
    }

    @Test
    void aVersionIsInItsPlaceBeforeTheLinkNamesIt() throws IOException, InterruptedException {
        served.load("a", first);
        try (WatchService changes = FileSystems.getDefault().newWatchService()) {
            served.layout().dataset("a").register(changes, StandardWatchEventKinds.ENTRY_CREATE);

            served.load("a", second);

            List<String> created = new ArrayList<>();
            while (created.size() < 2) {
                WatchKey some = Objects.requireNonNull(changes.poll(1, TimeUnit.MINUTES));
                some.pollEvents().forEach(event -> created.add(String.valueOf(event.context())));
                some.reset();
            }
            assertThat(created).containsExactly("2", "current");
        }
    }

    @Test
    void whereTheSecondFolderIsInTheWayTheFirstIsTakenBackToo() throws IOException {
        Path inTheWay = Files.createDirectories(served.layout().version("b", 1).resolve("stranger"));

        assertThatThrownBy(this::loadBoth).isInstanceOf(LarderException.class);

        assertThat(served.control().list("", true)).isEmpty();
        assertThat(served.layout().dataset("a")).doesNotExist();
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
        Files.delete(inTheWay);
        loadBoth();
        assertThat(served.control().list("", true)).hasSize(2);
    }

    @Test
    void whereTheSecondLinkCannotBeMadeTheFirstNamesWhatItNamedBefore() throws IOException {
        served.load("a", first);
        Files.createDirectories(served.layout().current("b").resolve("stranger"));

        assertThatThrownBy(this::loadBoth).isInstanceOf(LarderException.class);

        assertThat(Files.readSymbolicLink(served.layout().current("a"))).hasToString("1");
        assertThat(ServedStore.entries(served.layout().dataset("a"))).containsExactly("1", "current");
        assertThat(served.control().list("", true))
                .extracting(row -> row.version())
                .containsExactly(1L);
        assertThat(ServedStore.entries(served.layout().incoming())).isEmpty();
    }

    private void loadBoth() {
        served.control()
                .load(
                        new LoadRequest(
                                List.of(
                                        new LoadRequest.Source("a", first.toString()),
                                        new LoadRequest.Source("b", second.toString())),
                                List.of(),
                                0),
                        progress -> {});
    }
}
