package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.sample.BatchOrder;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Sampler;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The order of an epoch takes 4 bytes a row. There are two where the heap has room, that of the next epoch being made while one runs,
 * else one, whoever still holds the epochs before.
 */
@Tag("slow")
class OrderMemoryTest {
    private static final int ROWS = 8_000_000;
    private static final String HEAP = "-Xmx60m"; // 32 MB for one order, no room for two
    private static final String LARGE_HEAP = "-Xmx300m"; // more than four times what is left of it is room for one
    private static final long ORDER_BYTES = 4L * ROWS;
    private static final int EPOCHS = 3;

    @ParameterizedTest
    @ValueSource(strings = {"samples", "batches"})
    void everyEpochBeginsInAHeapThatHasRoomForOneOrder(String kind) {
        assertThat(heldInEachEpoch(kind, HEAP))
                .isNotEmpty()
                .allSatisfy(held -> assertThat(held).isBetween(ORDER_BYTES, ORDER_BYTES * 3 / 2));
    }

    @ParameterizedTest
    @ValueSource(strings = {"samples", "batches"})
    void whereThereIsRoomTwoOrdersAreHeldAndNeverMore(String kind) {
        assertThat(heldInEachEpoch(kind, LARGE_HEAP))
                .isNotEmpty()
                .allSatisfy(held -> assertThat(held).isBetween(2 * ORDER_BYTES, ORDER_BYTES * 5 / 2));
    }

    /** Returns how many bytes of heap are in use while each epoch runs. */
    private static List<Long> heldInEachEpoch(String kind, String heap) {
        try (StoreFixture store = StoreFixture.create()) {
            store.publish("many", Map.of("x", FixtureArray.bytes(new byte[ROWS], ROWS)));
            List<String> flags = new ArrayList<>(ChildJvm.libraryFlags());
            flags.addAll(List.of(heap, "-XX:+UseG1GC"));
            try (ChildJvm child = ChildJvm.start(
                    System.getProperty("java.class.path"),
                    flags,
                    Trainer.class.getName(),
                    store.store().toString(),
                    kind)) {
                assertThat(child.awaitExit()).as(child::errors).isZero();
                return child.remainingLines().stream().map(Long::valueOf).toList();
            }
        }
    }

    @Test
    void aBatchThatIsKeptSaysHowFarTrainingHasComeAfterItsEpochEnded() {
        try (Shelf shelf = Shelf.ofSamples(97, 4);
                Loader loader = Loader.over(shelf.dataset)
                        .batches(BatchSampler.of(Sampler.random(1), 10, false))
                        .build()) {
            Epoch first = loader.epoch(0);
            Batch kept = first.iterator().next().keep();
            LoaderState before = kept.stateAfter();
            loader.epoch(1);

            assertThat(kept.stateAfter()).isEqualTo(before);
            assertThat(first.samples()).isEqualTo(97);
            assertThat(first.batches()).isEqualTo(10);
        }
    }

    @Test
    void samplesOfAnEpochAreCountedOnceHoweverOftenTheyAreAskedFor() {
        AtomicLong asked = new AtomicLong();
        try (Shelf shelf = Shelf.ofSamples(1000, 4);
                Loader loader = Loader.over(shelf.dataset)
                        .batches((rows, epoch) -> new Singles(rows, asked))
                        .shard(0, 2)
                        .threads(0)
                        .build()) {
            Epoch epoch = loader.epoch(0);
            for (int i = 0; i < 500; i++) {
                assertThat(epoch.samples()).isEqualTo(500);
            }
            assertThat(asked.get()).isLessThan(2000);
        }
    }

    /** Batches of one sample each, which count how often they are asked for their size. */
    private record Singles(long batches, AtomicLong asked) implements BatchOrder {
        @Override
        public long first(long batch) {
            return batch;
        }

        @Override
        public long row(long position) {
            return position;
        }

        @Override
        public int size(long batch) {
            asked.incrementAndGet();
            return 1;
        }
    }

    /** Reads the beginning of some epochs, and holds on to the epochs and to a batch of each. */
    static final class Trainer {
        private Trainer() {}

        /** Takes the store, and what is dealt out. */
        public static void main(String[] arguments) {
            try (Larder larder = Larder.connect(Path.of(arguments[0]));
                    Dataset dataset = larder.dataset("many");
                    Loader loader = loader(dataset, arguments[1])) {
                List<Object> held = new ArrayList<>();
                for (long e = 0; e < EPOCHS; e++) {
                    Epoch epoch = loader.epoch(e);
                    Iterator<Batch> batches = epoch.iterator();
                    held.add(batches.next().keep());
                    batches.next();
                    held.add(epoch);
                    held.add(batches);
                    awaitNoOrderBeingMade();
                    System.gc();
                    Runtime runtime = Runtime.getRuntime();
                    System.out.println(runtime.totalMemory() - runtime.freeMemory());
                }
                System.err.println("held " + held.size()); // all that long
            }
        }

        private static void awaitNoOrderBeingMade() {
            while (Thread.getAllStackTraces().keySet().stream()
                    .anyMatch(thread -> thread.getName().equals("larder-order"))) {
                Thread.onSpinWait();
            }
        }

        private static Loader loader(Dataset dataset, String kind) {
            LoaderBuilder builder = Loader.over(dataset).arrays("x").threads(2).prefetch(8);
            return kind.equals("samples")
                    ? builder.shuffle(1).batchSize(256).build()
                    : builder.batches(BatchSampler.of(Sampler.random(1), 256, false))
                            .build();
        }
    }
}
