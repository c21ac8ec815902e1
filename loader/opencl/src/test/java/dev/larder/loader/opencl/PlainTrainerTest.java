package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A trainer that asks for no device, with all backends on its class path. */
class PlainTrainerTest {
    @TempDir
    Path folder;

    /** Runs an epoch. */
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) {
            long samples = 0;
            try (Larder larder = Larder.connect(Path.of(arguments[0]));
                    Dataset dataset = larder.dataset("d");
                    Loader loader = Loader.over(dataset)
                            .shuffle(1)
                            .batchSize(16)
                            .threads(2)
                            .build()) {
                for (Batch batch : loader.epoch(0)) {
                    samples += batch.size();
                }
            }
            System.out.println("samples=" + samples);
        }
    }

    private List<String> loadedClasses(String... otherFlags) throws IOException {
        Path log = folder.resolve("classes");
        List<String> flags = new ArrayList<>(ChildJvm.libraryFlags());
        flags.add("-Xlog:class+load:file=" + log);
        flags.add("-XX:+BytecodeVerificationRemote"); // as in a trainer: the verifier loads classes, too
        flags.addAll(List.of(otherFlags));
        try (StoreFixture store = StoreFixture.create()) {
            store.publish(
                    "d", Map.of("a", FixtureArray.ints(IntStream.range(0, 100).toArray(), 100)));
            try (ChildJvm child = ChildJvm.start(
                    System.getProperty("java.class.path"),
                    flags,
                    Program.class.getName(),
                    store.store().toString())) {
                assertThat(child.awaitExit()).as(child.errors()).isZero();
                assertThat(child.remainingLines()).containsExactly("samples=100");
            }
        }
        return Files.readAllLines(log);
    }

    @Test
    void itLoadsNothingOfAnyBackendNoLoggerAndNoEvent() throws Exception {
        assertThat(Class.forName("org.jocl.CL", false, getClass().getClassLoader()))
                .as("on the class path")
                .isNotNull();

        assertThat(loadedClasses())
                .anyMatch(line -> line.contains(" dev.larder.loader.Loader "))
                .noneMatch(line -> line.contains(" org.jocl."))
                .noneMatch(line ->
                        line.contains(" dev.larder.loader.internal.cuda.") || line.contains(" dev.larder.loader.cuda."))
                .noneMatch(line -> line.contains(" dev.larder.") && line.contains("Event "))
                .noneMatch(line -> line.contains(" org.slf4j.")) // what it finds may take longer to start than all else
                .noneMatch(line ->
                        line.contains(" dev.larder.loader.opencl.") && !line.contains("PlainTrainerTest$Program"));
    }

    @Test
    void itRunsOnARuntimeWithoutTheFlightRecorder() throws IOException {
        assertThat(loadedClasses("--limit-modules=java.base,java.logging,java.xml,jdk.unsupported"))
                .anyMatch(line -> line.contains(" dev.larder.loader.Loader "))
                .noneMatch(line -> line.contains(" jdk.jfr."));
    }
}
