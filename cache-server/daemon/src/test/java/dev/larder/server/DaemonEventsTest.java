package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.testing.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.DataAmount;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A daemon with {@code -XX:StartFlightRecording}. */
@Timeout(300)
class DaemonEventsTest {
    @TempDir
    Path folder;

    /** Loads a dataset, fails to load another, and evicts the first one, in a daemon with more flags. */
    private void loadAndEvict(String... otherFlags) throws IOException {
        Path source = ServedStore.writeInts(folder.resolve("a.npy"), 1, 2, 3);
        Path broken = Files.writeString(folder.resolve("b.npy"), "no array");
        List<String> flags = new ArrayList<>(ChildJvm.libraryFlags());
        flags.addAll(List.of(otherFlags));
        String classPath = System.getProperty("java.class.path");
        try (ServedStore served = ServedStore.create();
                ChildJvm daemon = ChildJvm.start(
                        classPath,
                        flags,
                        DaemonProgram.class.getName(),
                        served.root().toString())) {
            daemon.awaitLine(DaemonProgram.READY);
            served.load("d", source);
            assertThatThrownBy(() -> served.load("e", broken)).isInstanceOf(LarderException.class);
            served.control().evict("d");
            served.control().stop(false, progress -> {});
            assertThat(daemon.awaitExit()).as(daemon.errors()).isZero();
        }
    }

    private static List<RecordedEvent> events(Path recording, String name) throws IOException {
        return RecordingFile.readAllEvents(recording).stream()
                .filter(event -> event.getEventType().getName().equals(name))
                .toList();
    }

    @Test
    void loadsAndEvictionsAreRecorded() throws IOException {
        Path recording = folder.resolve("daemon.jfr");
        loadAndEvict("-XX:StartFlightRecording:filename=" + recording);

        List<RecordedEvent> loads = events(recording, "dev.larder.Load");
        assertThat(loads)
                .extracting(event -> event.getString("datasets") + " " + event.getBoolean("build"))
                .containsExactly("d false", "e false");
        assertThat(loads).extracting(event -> event.getLong("files")).containsExactly(1L, 0L);
        assertThat(loads).extracting(event -> event.getLong("bytes")).containsExactly(12L, 0L);
        assertThat(loads.get(0).getString("failure")).isNull();
        assertThat(loads.get(1).getString("failure")).contains("file=" + folder.resolve("b.npy"));
        List<RecordedEvent> evictions = events(recording, "dev.larder.Evict");
        assertThat(evictions).hasSize(1);
        assertThat(evictions.get(0).getString("dataset")).isEqualTo("d");
        assertThat(evictions.get(0).getLong("version")).isEqualTo(1);
        assertThat(evictions.get(0).getLong("bytes")).isGreaterThan(12);
        assertThat(evictions.get(0).getBoolean("reloadable")).isTrue();
        assertThat(evictions.get(0).getEventType().getField("bytes").getContentType())
                .isEqualTo(DataAmount.class.getName());
    }

    @Tag("slow")
    @Test
    void aDaemonWithoutARecordingLoadsNoClassOfAnEvent() throws IOException {
        Path log = folder.resolve("classes");
        loadAndEvict("-Xlog:class+load:file=" + log, "-XX:+BytecodeVerificationRemote");

        assertThat(Files.readAllLines(log))
                .anyMatch(line -> line.contains(" dev.larder.server.LoadService "))
                .noneMatch(line -> line.contains(" dev.larder.") && line.contains("Event "));
    }
}
