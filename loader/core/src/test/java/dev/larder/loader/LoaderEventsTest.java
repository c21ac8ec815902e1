package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.transform.Transform;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import jdk.jfr.DataAmount;
import jdk.jfr.Timespan;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A trainer with {@code -XX:StartFlightRecording}. */
@Timeout(300)
class LoaderEventsTest {
    private static final int ROWS = 4000;
    private static final int ROW_BYTES = 300;
    private static final int EPOCHS = 3;

    private final StoreFixture memory = StoreFixture.create();
    private final StoreFixture disk = StoreFixture.createOnDisk();

    @TempDir
    Path folder;

    @AfterEach
    void close() {
        memory.close();
        disk.close();
    }

    /** Runs epochs of the dataset of each store. */
    static final class Program {
        private Program() {}

        public static void main(String[] stores) {
            for (String store : stores) {
                try (Larder larder = Larder.connect(Path.of(store));
                        Dataset dataset = larder.dataset("d");
                        Loader loader = loader(dataset)) {
                    for (int epoch = 0; epoch < EPOCHS; epoch++) {
                        loader.epoch(epoch).forEach(batch -> {});
                    }
                }
            }
        }

        private static Loader loader(Dataset dataset) {
            return Loader.over(dataset)
                    .arrays("plain", "changed")
                    .transform("changed", new Transform().toFloat())
                    .shuffle(1)
                    .batchSize(50)
                    .threads(2)
                    .build();
        }
    }

    private Map<String, List<RecordedEvent>> recorded(StoreFixture store) throws IOException {
        FixtureArray rows = Shelf.noise(ROWS, ROW_BYTES);
        store.publish("d", Map.of("plain", rows, "changed", rows));
        Path file = folder.resolve("trainer.jfr");
        List<String> flags = new ArrayList<>(ChildJvm.libraryFlags());
        flags.add("-XX:StartFlightRecording:filename=" + file + ",+dev.larder.Gather#threshold=0ms"
                + ",+dev.larder.Transform#threshold=0ms,+dev.larder.BatchWait#threshold=0ms");
        String classPath = System.getProperty("java.class.path");
        try (ChildJvm child = ChildJvm.start(
                classPath, flags, Program.class.getName(), store.store().toString())) {
            assertThat(child.awaitExit()).as(child.errors()).isZero();
        }
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().startsWith("dev.larder."))
                .collect(Collectors.groupingBy(
                        event -> event.getEventType().getName().substring("dev.larder.".length())));
    }

    private static long sum(List<RecordedEvent> events, String field) {
        return events.stream().mapToLong(event -> event.getLong(field)).sum();
    }

    private static String contentType(RecordedEvent event, String field) {
        return event.getEventType().getField(field).getContentType();
    }

    @Test
    void gathersTransformsAndWaitsOfATrainerAreRecorded() throws IOException {
        Map<String, List<RecordedEvent>> events = recorded(memory);

        assertThat(events).containsOnlyKeys("Gather", "Transform", "BatchWait");
        assertThat(sum(events.getOrDefault("Gather", List.of()), "samples")).isEqualTo(EPOCHS * ROWS);
        assertThat(sum(events.getOrDefault("Gather", List.of()), "bytes")).isEqualTo(EPOCHS * ROWS * ROW_BYTES);
        assertThat(events.getOrDefault("Gather", List.of())).allSatisfy(event -> {
            assertThat(event.getString("dataset") + "/" + event.getString("array"))
                    .isEqualTo("d/plain");
            assertThat(event.getLong("epoch")).isBetween(0L, EPOCHS - 1L);
            assertThat(event.getLong("batch")).isBetween(0L, ROWS / 50 - 1L);
            assertThat(event.getDuration()).isPositive();
        });
        assertThat(sum(events.getOrDefault("Transform", List.of()), "samples")).isEqualTo(EPOCHS * ROWS);
        assertThat(events.getOrDefault("Transform", List.of())).allSatisfy(event -> {
            assertThat(event.getString("part")).isEqualTo("TRANSFORMING");
            assertThat(event.getString("array")).isEqualTo("changed");
        });
        assertThat(events.getOrDefault("BatchWait", List.of())).anyMatch(event -> event.getBoolean("starting"));
        assertThat(events.getOrDefault("BatchWait", List.of()))
                .anyMatch(event -> event.getLong("batchesBefore") == 0); // a file of events has them in no order
        assertThat(contentType(events.getOrDefault("Gather", List.of()).get(0), "bytes"))
                .isEqualTo(DataAmount.class.getName());
        assertThat(contentType(events.getOrDefault("Gather", List.of()).get(0), "diskWait"))
                .isEqualTo(Timespan.class.getName());
    }

    @Test
    void requestsOfRowsOnADiskAreRecorded() throws IOException {
        List<RecordedEvent> requests = recorded(disk).get("ReadAhead");

        assertThat(requests).isNotEmpty().allSatisfy(event -> {
            assertThat(event.getString("dataset")).isEqualTo("d");
            assertThat(event.getLong("samples")).isBetween(1L, 64L);
            assertThat(event.getLong("bytes")).isGreaterThan(2 * ROW_BYTES * event.getLong("samples"));
            assertThat(event.getInt("window")).isGreaterThanOrEqualTo(64);
            assertThat(event.getDuration()).isLessThan(Duration.ofMinutes(5));
        });
    }
}
