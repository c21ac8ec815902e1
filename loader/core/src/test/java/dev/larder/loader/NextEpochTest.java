package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.management.ThreadMXBean;
import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Buckets;
import dev.larder.loader.sample.Labels;
import dev.larder.loader.sample.Lengths;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Subset;
import dev.larder.loader.sample.TokenBudget;
import dev.larder.testing.FixtureArray;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The order of an epoch is made while the one before runs; nothing of it is seen but how soon the epoch begins. */
@Timeout(300)
@Tag("races")
class NextEpochTest {
    private static final int ROWS = 300_000;
    private static final long ORDER_BYTES = 4L * ROWS;
    private static final long SEED = 1_123;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Shelf shelf = Shelf.of(Map.of("x", FixtureArray.bytes(Shelf.noiseBytes(ROWS), ROWS)));

    @AfterEach
    void noThreadIsLeft() {
        shelf.close();

        await().until(() -> orderThreads() == 0);
    }

    /** How samples are chosen, by name. */
    record Order(String name, UnaryOperator<LoaderBuilder> choice) {
        Loader over(Shelf shelf) {
            return choice.apply(Loader.over(shelf.dataset).arrays("x").threads(1))
                    .build();
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static List<Order> orders() {
        Random random = new Random(SEED);
        Labels labels = Labels.of(random.ints(ROWS, 0, 5).toArray());
        Lengths lengths = Lengths.of(random.ints(ROWS, 1, 100).toArray());
        double[] weights = random.doubles(ROWS, 0.1, 1).toArray();
        Subset most = Subset.split(ROWS, SEED, 0.6, 0.4).get(0);
        return List.of(
                samples("sequential", Sampler.sequential()),
                samples("random", Sampler.random(1)),
                samples("permuted", Sampler.permuted(1)),
                samples("weighted", Sampler.weighted(weights, ROWS, 1)),
                samples("weightedOnce", Sampler.weightedWithoutReplacement(weights, ROWS / 2, 1)),
                samples("stratified", Sampler.stratified(labels, 1)),
                samples("random of some", Sampler.random(1).over(most)),
                samples("stratified of some", Sampler.stratified(labels, 1).over(most)),
                new Order("a rank", builder -> builder.shuffle(1).shard(1, 3).batchSize(5000)),
                batches("fixed", BatchSampler.of(Sampler.random(1), 5000, true)),
                batches(
                        "fixed of some",
                        BatchSampler.of(Sampler.random(1), 5000, false).over(most)),
                batches("buckets", buckets(lengths)),
                batches("buckets of some", buckets(lengths).over(most)),
                batches("tokens", TokenBudget.of(lengths).maxTokens(300_000).shuffle(1)));
    }

    private static Buckets buckets(Lengths lengths) {
        return Buckets.of(lengths).bounds(30, 60).batchSizes(4000, 3000, 2000).shuffle(1);
    }

    private static Order samples(String name, Sampler sampler) {
        return new Order(name, builder -> builder.sampler(sampler).batchSize(5000));
    }

    private static Order batches(String name, BatchSampler sampler) {
        return new Order(name, builder -> builder.batches(sampler));
    }

    @ParameterizedTest
    @MethodSource("orders")
    void epochsOneAfterTheOtherHaveTheOrdersThatEachHasAlone(Order order) {
        try (Loader loader = order.over(shelf)) {
            for (long epoch = 0; epoch < 4; epoch++) {
                assertThat(rows(loader.epoch(epoch))).isEqualTo(alone(order, epoch));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void anyWayThroughTheEpochsGivesTheSameOrders(long seed) {
        Random random = new Random(seed);
        Order order = samples("random", Sampler.random(7));
        List<List<Long>> alone = List.of(alone(order, 0), alone(order, 1), alone(order, 2), alone(order, 3));
        try (Loader loader = order.over(shelf)) {
            long number = 0;
            for (int i = 0; i < 25; i++) {
                number = random.nextInt(3) > 0 ? (number + 1) % 4 : random.nextInt(4);
                Epoch epoch = loader.epoch(number);
                if (random.nextInt(3) == 0) {
                    assertThat(rows(epoch)).isEqualTo(alone.get((int) number));
                } else if (random.nextBoolean()) {
                    Batch second = second(epoch);
                    List<Long> rest = rows(loader.resume(second.stateAfter()));
                    assertThat(rest).isEqualTo(alone.get((int) number).subList(10_000, ROWS));
                }
            }
        }
    }

    @Test
    void theNextOrderIsMadeInAnotherThread() {
        Order order = samples("random", Sampler.random(1));
        try (Loader loader = order.over(shelf)) {
            assertThat(allocatedToBegin(loader, 0)).isGreaterThan(ORDER_BYTES);
            assertThat(allocatedToBegin(loader, 1)).isLessThan(ORDER_BYTES);
            assertThat(allocatedToBegin(loader, 2)).isLessThan(ORDER_BYTES);
            assertThat(allocatedToBegin(loader, 2)).as("again").isGreaterThan(ORDER_BYTES);
            assertThat(allocatedToBegin(loader, 3)).isLessThan(ORDER_BYTES);

            LoaderState state = second(loader.epoch(4)).stateAfter();
            loader.resume(state);
            assertThat(allocatedToBegin(loader, 5)).as("after resuming").isLessThan(ORDER_BYTES);
        }
    }

    @Test
    void twoLoadersMakeTheirOrdersApart() {
        Order first = samples("random", Sampler.random(1));
        Order second = samples("random", Sampler.random(2));
        try (Loader one = first.over(shelf);
                Loader other = second.over(shelf)) {
            for (long epoch = 0; epoch < 3; epoch++) {
                Epoch ofOne = one.epoch(epoch);
                Epoch ofOther = other.epoch(epoch);
                assertThat(rows(ofOther)).isEqualTo(alone(second, epoch));
                assertThat(rows(ofOne)).isEqualTo(alone(first, epoch));
            }
        }
    }

    @Test
    void aUsersSamplerIsCalledByTheCallerOnly() {
        Set<Thread> callers = ConcurrentHashMap.newKeySet();
        Sampler own = new Sampler() {
            @Override
            public SampleOrder order(long rows, long epoch) {
                callers.add(Thread.currentThread());
                return Sampler.random(1).order(rows, epoch);
            }

            @Override
            public String description() {
                return "mine";
            }
        };
        for (Order order : List.of(
                samples("own", own),
                samples("own of some", own.over(Subset.range(0, ROWS - 1))),
                batches("own in batches", BatchSampler.of(own, 5000, false)))) {
            try (Loader loader = order.over(shelf)) {
                for (long epoch = 0; epoch < 3; epoch++) {
                    loader.epoch(epoch).forEach(batch -> {});
                }
            }
        }
        assertThat(callers).containsExactly(Thread.currentThread());
    }

    @Test
    void closingGivesUpTheOrderThatIsBeingMade() {
        for (int i = 0; i < 30; i++) {
            try (Loader loader = samples("random", Sampler.random(1)).over(shelf)) {
                loader.epoch(i);
            }
            await().until(() -> orderThreads() == 0);
        }
    }

    @Test
    void aForgottenLoaderIsCollectedWhateverOrderIsBeingMade() {
        samples("random", Sampler.random(1)).over(shelf).epoch(0);

        await().until(() -> {
            System.gc();
            return Shelf.gatherThreads() == 0 && orderThreads() == 0;
        });
    }

    /** Begins an epoch, and returns how many bytes that took of the caller's: those of an order if it was laid down here. */
    private static long allocatedToBegin(Loader loader, long epoch) {
        long before = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
        Epoch begun = loader.epoch(epoch);
        long after = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
        assertThat(begun.samples()).isEqualTo(ROWS);
        return after - before;
    }

    private List<Long> alone(Order order, long epoch) {
        try (Loader loader = order.over(shelf)) {
            return rows(loader.epoch(epoch));
        }
    }

    private static Batch second(Epoch epoch) {
        Iterator<Batch> batches = epoch.iterator();
        batches.next();
        return batches.next();
    }

    private static List<Long> rows(Epoch epoch) {
        List<Long> rows = new ArrayList<>();
        for (Batch batch : epoch) {
            for (long row : batch.rows()) {
                rows.add(row);
            }
        }
        return rows;
    }

    private static long orderThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("larder-order"))
                .count();
    }
}
