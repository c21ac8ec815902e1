package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.device.Device;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What a trainer without an SLF4J provider is told: what there is to be warned of, and nothing else. */
class WarningsTest {
    @Test
    void aLoaderWithoutBatchesSaysSoOnStandardErrorOnce() {
        assertThat(errors("8"))
                .containsOnlyOnce(
                        "larder: warn: an epoch has no batches: loader=Loader{few version 1 [x]} epoch=0 rows=5;")
                .doesNotContain("SLF4J");
    }

    @Test
    void aTrainerThatHasNothingToBeWarnedOfPrintsNothing() {
        assertThat(errors("2")).isEmpty();
    }

    private static String errors(String batch) {
        String withoutProvider = Arrays.stream(
                        System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("slf4j-simple"))
                .collect(Collectors.joining(File.pathSeparator));
        try (StoreFixture store = StoreFixture.create()) {
            store.publish("few", Map.of("x", FixtureArray.bytes(new byte[5], 5)));
            try (ChildJvm child = ChildJvm.start(
                    withoutProvider,
                    ChildJvm.libraryFlags(),
                    Trainer.class.getName(),
                    store.store().toString(),
                    batch)) {
                assertThat(child.awaitExit()).as(child::errors).isZero();
                return child.errors();
            }
        }
    }

    /** Runs three epochs. */
    static final class Trainer {
        private Trainer() {}

        /** Takes the store and the batch size. */
        public static void main(String[] arguments) {
            try (Larder larder = Larder.connect(Path.of(arguments[0]));
                    Dataset dataset = larder.dataset("few");
                    Loader loader = Loader.over(dataset)
                            .arrays("x")
                            .batchSize(Integer.parseInt(arguments[1]))
                            .dropLast(true)
                            .device(Device.host())
                            .build()) {
                for (long e = 0; e < 3; e++) {
                    loader.epoch(e).forEach(batch -> {});
                }
            }
        }
    }
}
