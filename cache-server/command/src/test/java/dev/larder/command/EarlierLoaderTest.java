package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.CountersDescriptor;
import dev.larder.internal.layout.RingDescriptor;
import dev.larder.internal.layout.RowsDescriptor;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.Protocol;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.LoaderState;
import dev.larder.loader.fanout.SharedBatch;
import dev.larder.loader.fanout.SharedBatches;
import dev.larder.loader.sample.Sampler;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Resumes states and joins rings of an earlier Larder, and refuses those of another format by its number. */
class EarlierLoaderTest {
    private static final List<Integer> WHOLE_EPOCH =
            LongStream.range(0, 100).mapToObj(row -> (int) row).toList();

    @TempDir
    Path folder;

    private EarlierStore earlier;
    private CommandProcess daemon;
    private Larder larder;

    @BeforeEach
    void serve() throws IOException, InterruptedException {
        earlier = EarlierStore.unpack(EarlierStore.LAST, folder);
        daemon = earlier.serve();
        larder = Larder.connect(daemon.store());
    }

    @AfterEach
    void stop() {
        larder.close();
        daemon.close();
    }

    /** A state, and the rows that its loader visited after it. */
    private record Saved(String name, String state, long[] rest) {
        static Saved parse(String line) {
            String[] parts = line.split("\t");
            return new Saved(
                    parts[0],
                    parts[1],
                    Arrays.stream(parts[2].replaceAll("[\\[\\]]", "").split(","))
                            .mapToLong(Long::parseLong)
                            .toArray());
        }
    }

    private static LoaderBuilder builder(String name, Dataset steps) {
        LoaderBuilder builder = Loader.over(steps).arrays("x").batchSize(8);
        return switch (name) {
            case "sequential", "python sequential" -> builder;
            case "shuffle", "python shuffle" -> builder.shuffle(42);
            case "any order" -> builder.shuffle(42).inAnyOrder();
            case "permuted" -> builder.sampler(Sampler.permuted(7));
            case "weighted" ->
                builder.sampler(Sampler.weighted(
                        LongStream.range(0, 100).mapToDouble(row -> row % 4).toArray(), 60, 5));
            default -> throw new IllegalArgumentException(name);
        };
    }

    @Test
    void loadersResumeItsStatesWithTheRowsThatItsOwnVisited() throws IOException {
        List<String> lines = Files.readAllLines(folder.resolve("states.tsv"));

        assertThat(lines).hasSize(7);
        for (String line : lines) {
            Saved saved = Saved.parse(line);
            List<Long> visited = new ArrayList<>();
            try (Dataset steps = larder.dataset("steps");
                    Loader loader = builder(saved.name, steps).build()) {
                for (Batch batch : loader.resume(LoaderState.parse(saved.state))) {
                    Arrays.stream(batch.rows()).forEach(visited::add);
                }
            }
            if (saved.name.equals("any order")) {
                assertThat(saved.state).contains("\"format\":2", "\"progress\":");
                assertThat(visited).containsExactlyInAnyOrder(boxed(saved.rest));
            } else {
                assertThat(visited).as(saved.name).containsExactly(boxed(saved.rest));
            }
        }
    }

    private static Long[] boxed(long[] rows) {
        return Arrays.stream(rows).boxed().toArray(Long[]::new);
    }

    @Test
    void aStateOfAnotherFormatIsRefusedByItsNumber() {
        assertThatThrownBy(() -> LoaderState.parse("{\"format\":3,\"dataset\":\"steps\"}"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("its format is 3, not 1 or 2");
    }

    /** Gives a ring to the store; it lives while this process holds the returned descriptor. */
    private int putRing(String name) throws IOException {
        Path ring = Files.createDirectories(daemon.store().resolve("rings")).resolve("run1");
        Path unpacked = folder.resolve("rings").resolve(name);
        int lock = Posix.system().openForReading(unpacked.resolve(RingDescriptor.PRODUCER_LOCK));
        assertThat(Posix.system().tryLockExclusive(lock)).isTrue();
        Files.move(unpacked, ring); // with its producer alive, or the daemon removes it
        return lock;
    }

    private SharedBatches attach() {
        return SharedBatches.of(larder, "run1").timeout(Duration.ofSeconds(60)).attach();
    }

    private static void read(SharedBatches batches, List<Integer> values) {
        for (SharedBatch batch : batches) {
            try (batch) {
                assertThat(batch.epoch()).isEqualTo(3);
                for (int i = 0; i < batch.size(); i++) {
                    values.add(batch.array("x").byteBuffer().getInt(i * Integer.BYTES));
                }
            }
        }
    }

    @Test
    void aRingIsReadToItsEnd() throws IOException {
        List<Integer> values = new ArrayList<>();
        int lock = putRing("ended");
        try (SharedBatches batches = attach()) {
            read(batches, values);
        } finally {
            Posix.system().close(lock);
        }

        assertThat(values).isEqualTo(WHOLE_EPOCH);
    }

    @Test
    void aRingWhoseProducerDiesIsReadAsFarAsItGoes() throws IOException {
        List<Integer> values = new ArrayList<>();
        int lock = putRing("open");
        try (SharedBatches batches = attach()) {
            Posix.system().close(lock);

            assertThatThrownBy(() -> read(batches, values)).hasMessageContaining("the producer died");
        }

        assertThat(values).isEqualTo(WHOLE_EPOCH);
    }

    @Test
    void aRingOfAnotherFormatIsRefusedByItsNumber() throws IOException {
        Path file = folder.resolve("rings/open/ring");
        try (RandomAccessFile ring = new RandomAccessFile(file.toFile(), "rw")) {
            ring.seek(RingDescriptor.FORMAT_VERSION_OFFSET);
            ring.write(StoreLayout.FORMAT_VERSION + 1);
        }
        int lock = putRing("open");

        try {
            assertThatThrownBy(this::attach)
                    .hasMessageContaining(
                            "not a ring of this release", "formatVersion=2", "use the same Larder release");
        } finally {
            Posix.system().close(lock);
        }
    }

    @Test
    void pythonResumesItsStatesAndJoinsItsRings() throws Exception {
        earlier.requirePassed(daemon, "EarlierLoaderTest");
    }

    @Test
    void theVersionsOfTheFormatAreThoseOfTheGuide() throws IOException {
        String guide = Files.readString(Path.of("../../ops/docs/reference/FORMAT.md"));

        assertThat(guide).startsWith("# Format of a store\n\nFormat version " + StoreLayout.FORMAT_VERSION + ".");
        assertThat(guide)
                .contains("| store: folder, `index`, `manifest.json`, rings, regions | " + StoreLayout.FORMAT_VERSION
                        + " |")
                .contains("| `counters` | " + CountersDescriptor.FORMAT_VERSION + " |")
                .contains("| computed rows | " + RowsDescriptor.LAYOUT_VERSION + " |")
                .contains("| control plane | " + Protocol.NUMBER + " |");
    }
}
