package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Subset;
import dev.larder.loader.transform.SampleFunction;
import dev.larder.loader.transform.Transform;
import dev.larder.testing.FixtureArray;
import java.nio.FloatBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
@Tag("races")
class LoaderTransformTest {
    private static final int ROWS = 300;
    private static final Transform AUGMENT =
            new Transform().randomCrop(8, 8, 2).randomFlip(0.5f).toFloat().normalize(0.5f, 0.25f);

    private final Shelf shelf = Shelf.of(Map.of(
            "images", FixtureArray.bytes(Shelf.noiseBytes(ROWS * 64), ROWS, 8, 8), "labels", Shelf.labels(ROWS)));

    private LoaderBuilder images(Transform transform) {
        return Loader.over(shelf.dataset).arrays("images", "labels").transform("images", transform);
    }

    @Test
    void transformedBatchesHaveAnotherTypeAndShape() {
        Transform transform = new Transform().centerCrop(4, 6).toFloat();
        try (Loader loader = images(transform).batchSize(10).build()) {
            Batch batch = loader.epoch(0).iterator().next();

            assertThat(batch.array("images").dtype().descr()).isEqualTo("<f4");
            assertThat(batch.array("images").shape()).containsExactly(10, 4, 6);
            float first = batch.array("images").byteBuffer().asFloatBuffer().get(0);
            int stored = shelf.dataset.array("images").getInt(0, 2, 1);
            assertThat(first).isEqualTo(stored / 255f);
        }
    }

    @Test
    void randomTransformsAreTheSameWhateverTheThreadsTheDepthAndTheBatchSize() {
        List<Float> expected = values(images(AUGMENT).shuffle(9).batchSize(300).threads(0));
        for (int threads = 1; threads <= 8; threads++) {
            LoaderBuilder loader = images(AUGMENT).shuffle(9).batchSize(1 << threads);
            assertThat(values(loader.threads(threads).prefetch(1 + threads % 5)))
                    .isEqualTo(expected);
        }
    }

    @Test
    void aTransformChangesTheArrayThatItNamesAndNoOther() {
        List<Integer> labels = new ArrayList<>();
        try (Loader loader = Loader.over(shelf.dataset)
                .arrays("images", "labels")
                .transform("labels", new Transform().cast("<f4").scale(2, 1))
                .batchSize(ROWS)
                .build()) {
            for (Batch batch : loader.epoch(0)) {
                assertThat(batch.array("images").dtype()).hasToString("|u1");
                for (int i = 0; i < ROWS; i++) {
                    labels.add((int) batch.array("labels").byteBuffer().getFloat(i * Float.BYTES));
                }
            }
        }

        assertThat(labels).startsWith(1, 3, 5);
        assertThatThrownBy(
                        () -> Loader.over(shelf.dataset).arrays("images").transform("label", new Transform().toFloat()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name=label names=[images]");
        assertThatThrownBy(() -> Loader.over(shelf.dataset).transform("images", new Transform().toFloat()))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void everyEpochAndEverySeedDrawsAnew() {
        List<Float> first = values(images(AUGMENT).batchSize(100).seed(1));

        assertThat(values(images(AUGMENT).batchSize(100).seed(1))).isEqualTo(first);
        assertThat(values(images(AUGMENT).batchSize(100).seed(2))).isNotEqualTo(first);
        try (Loader loader = images(AUGMENT).batchSize(100).seed(1).build()) {
            assertThat(Shelf.checksum(loader.epoch(0))).isNotEqualTo(Shelf.checksum(loader.epoch(1)));
        }
    }

    @Test
    void ranksTogetherSeeWhatOneWouldSee() {
        List<Float> whole = values(images(AUGMENT).shuffle(3).batchSize(30));
        List<Float> first = values(images(AUGMENT).shuffle(3).shard(0, 2).batchSize(15));
        List<Float> second = values(images(AUGMENT).shuffle(3).shard(1, 2).batchSize(15));

        for (int sample = 0; sample < ROWS; sample++) {
            List<Float> own = sample % 2 == 0 ? first : second;
            assertThat(own.subList(sample / 2 * 64, sample / 2 * 64 + 64))
                    .isEqualTo(whole.subList(sample * 64, sample * 64 + 64));
        }
    }

    @Test
    void numbersOfRaggedRowsAreTransformedOneByOne() {
        Transform half = new Transform().cast("<f4").scale(0.5f, 0);
        try (Scenes scenes = Scenes.open();
                Loader loader = Loader.over(scenes.dataset)
                        .fields(
                                Field.packed("words").transform(half),
                                Field.padded("boxes").transform(half))
                        .batchSize(5)
                        .build()) {
            Batch batch = loader.epoch(0).iterator().next();

            assertThat(floats(batch, "words")).containsExactly(0.5f, 1f, 1.5f, 1.5f, 2f, 2.5f, 2f, 2.5f, 3f, 3.5f);
            assertThat(batch.array("boxes").shape()).containsExactly(5, 3, 2);
            assertThat(floats(batch, "boxes").subList(0, 8))
                    .containsExactly(0.25f, 0.25f, 0f, 0f, 0f, 0f, 0.75f, 0.75f);
        }
    }

    @Test
    void failingTransformNamesTheSampleAndEverythingElse() {
        try (Loader loader = images(failingOn(42, new AtomicInteger(Integer.MAX_VALUE)))
                .batchSize(10)
                .build()) {
            LarderException failure = catchThrowableOfType(
                    LarderException.class, () -> loader.epoch(5).forEach(batch -> {}));

            assertThat(failure)
                    .hasMessageContaining("cannot transform a sample: dataset=shelf version=1 stage=transform thread=")
                    .hasMessageContaining("cause=java.lang.IllegalArgumentException: not this one epoch=5 batch=4")
                    .hasMessageContaining("array=images sample=42 position=42");
            assertThat(failure.getCause()).hasMessage("not this one");
            assertThat(failure.code()).isEqualTo(ErrorCode.UNEXPECTED);
        }
    }

    @Test
    void failingSampleMayBeLeftOut() {
        try (Loader loader = images(failingOn(42, new AtomicInteger(Integer.MAX_VALUE)))
                .onFailure(FailurePolicy.skip(1))
                .threads(3)
                .batchSize(10)
                .build()) {
            List<List<Integer>> batches = Shelf.labels(loader.epoch(0));

            assertThat(batches.get(4)).containsExactly(40, 41, 43, 44, 45, 46, 47, 48, 49);
            assertThat(Shelf.flat(batches)).hasSize(ROWS - 1);
            assertThat(loader.stats().skippedSamples()).isEqualTo(1);
        }
    }

    @Test
    void failureThatPassesIsTriedAgain() {
        AtomicInteger failures = new AtomicInteger(3);
        try (Loader loader = images(failingOn(42, failures))
                .onFailure(FailurePolicy.retry(3))
                .batchSize(10)
                .build()) {
            assertThat(Shelf.flat(Shelf.labels(loader.epoch(0)))).hasSize(ROWS);
            assertThat(failures).hasValue(0);
        }
    }

    @Test
    void sampleThatFailsForAMomentWhileABatchIsFilledAnewIsTriedAgain() {
        AtomicInteger calls = new AtomicInteger();
        SampleFunction onceMore = (values, shape, random) -> {
            if (values[0] == pixel(45) && calls.incrementAndGet() == 2) { // when the batch is filled without row 42
                throw new IllegalStateException("busy");
            }
        };
        Transform transform =
                failingOn(42, new AtomicInteger(Integer.MAX_VALUE)).map(onceMore);
        try (Loader loader = Loader.over(shelf.dataset)
                .arrays("images", "labels")
                .transform("images", transform)
                .sampler(Sampler.sequential().over(Subset.range(40, 10)))
                .onFailure(FailurePolicy.retry(1).thenSkip(1))
                .batchSize(10)
                .build()) {
            assertThat(Shelf.flat(Shelf.labels(loader.epoch(0)))).containsExactly(40, 41, 43, 44, 45, 46, 47, 48, 49);
            assertThat(calls.get()).isGreaterThan(2);
        }
    }

    private float pixel(int row) {
        return shelf.dataset.array("images").getInt(row, 0, 0);
    }

    @Test
    void keptBatchesLeaveASlotForTheNextWhereOnlyThreadsMayFillIt() {
        Transform users = new Transform().toFloat().map((values, shape, random) -> {});
        try (Loader loader = images(users)
                .batchSize(10)
                .threads(1)
                .prefetch(4)
                .timeout(Duration.ofSeconds(10))
                .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            batches.next();
            for (int i = 1; i <= 3; i++) {
                assertThat(batches.next().keep().number()).isEqualTo(i);
            }

            assertThat(batches.next().number()).isEqualTo(4);
        }
    }

    @Test
    void batchesInAnyOrderAreTheSameBatchesAndASlowOneHoldsUpNoOther() {
        CountDownLatch others = new CountDownLatch(3);
        Transform slow = waitingWithTheFirst(others);
        Sampler few = Sampler.sequential().over(Subset.range(0, 60));
        try (Loader loader = images(slow)
                .sampler(few)
                .batchSize(10)
                .threads(2)
                .prefetch(4)
                .inAnyOrder()
                .build()) {
            Map<Long, List<Integer>> seen = new TreeMap<>();
            for (Batch batch : loader.epoch(0)) {
                seen.put(batch.number(), Shelf.labels(batch));
                others.countDown();
                LoaderState state = batch.stateAfter();
                assertThat(state.consumed()).isEqualTo(10L * seen.size());
                if (!seen.containsKey(0L)) {
                    assertThat(state.progress()).startsWith("left=0-9"); // what the slow batch has is left
                }
            }

            assertThat(List.copyOf(seen.values())).isEqualTo(labelsInOrder(few));
        }
    }

    @Test
    void keptBatchesDoNotMakeBatchesInAnyOrderWaitForASlowOne() {
        CountDownLatch others = new CountDownLatch(4);
        try (Loader loader = images(waitingWithTheFirst(others))
                .sampler(Sampler.sequential().over(Subset.range(0, 60)))
                .batchSize(10)
                .threads(2)
                .prefetch(4)
                .timeout(Duration.ofSeconds(10))
                .inAnyOrder()
                .build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            for (int i = 1; i <= 4; i++) { // two are kept, batch 0 is slow: one slot is left for the others
                Batch batch = batches.next();
                assertThat(batch.number()).isNotZero();
                if (i == 2 || i == 3) {
                    batch.keep();
                }
                others.countDown();
            }
        }
    }

    /** Holds up the first sample until enough was counted. */
    private Transform waitingWithTheFirst(CountDownLatch others) {
        return new Transform().toFloat().map((values, shape, random) -> {
            boolean isFirst = true;
            for (int i = 0; i < 8; i++) {
                isFirst &= values[i] == shelf.dataset.array("images").getInt(0, 0, i) / 255f;
            }
            if (isFirst) {
                awaitUninterruptibly(others);
            }
        });
    }

    private List<List<Integer>> labelsInOrder(Sampler sampler) {
        try (Loader loader = Loader.over(shelf.dataset)
                .arrays("labels")
                .sampler(sampler)
                .batchSize(10)
                .build()) {
            return Shelf.labels(loader.epoch(0));
        }
    }

    @Test
    void closingDoesNotWaitForATransformThatHangs() {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Transform stuck = new Transform().toFloat().map((values, shape, random) -> {
            entered.countDown();
            awaitUninterruptibly(released);
        });
        Loader loader = images(stuck)
                .batchSize(10)
                .threads(1)
                .timeout(Duration.ofMillis(100))
                .build();
        try {
            Epoch epoch = loader.epoch(0);
            awaitUninterruptibly(entered);
            long start = System.nanoTime();
            assertThatThrownBy(loader::close)
                    .hasMessageContaining(
                            "loader did not stop in time: dataset=shelf version=1 threads=larder-gather-0");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
            assertThatThrownBy(() -> epoch.iterator().next()).isInstanceOf(IllegalStateException.class);
        } finally {
            released.countDown();
            loader.close();
        }
    }

    @Test
    void statsSayWhereTheTimeGoes() {
        try (Loader loader = images(AUGMENT).shuffle(1).batchSize(30).threads(1).build()) {
            loader.epoch(0).forEach(batch -> {});
            LoaderStats stats = loader.stats();

            assertThat(stats.batches()).isEqualTo(10);
            assertThat(stats.samples()).isEqualTo(ROWS);
            assertThat(stats.bytes()).isEqualTo(ROWS * (64 * 4 + 4L));
            assertThat(stats.transforming()).isPositive();
            assertThat(stats.gathering()).isPositive();
            assertThat(stats.planning()).isPositive();
            assertThat(stats.openingDataset()).isPositive();
            assertThat(stats.batchesPerSecond()).isPositive();
        }
    }

    @Test
    void fewSamplesFromTheMiddleOfAHugeEpochComeAtOnce() {
        try (Loader loader = Loader.over(shelf.dataset)
                .sampler(new Repeated(Sampler.permuted(5), 1_000_000_000L))
                .batchSize(10)
                .build()) {
            LoaderState middle = new LoaderState(
                    "shelf", shelf.dataset.digest(), "repeated permuted", 0, 0, 500_000_000L, 1_000_000_000L);
            Batch batch = loader.resume(middle).iterator().next();

            assertThat(batch.stateAfter().consumed()).isEqualTo(500_000_010L);
        }
    }

    /** Visits rows of a small dataset as if there were many more of them. */
    private record Repeated(Sampler sampler, long rows) implements Sampler {
        @Override
        public SampleOrder order(long actual, long epoch) {
            SampleOrder order = sampler.order(rows, epoch);
            return new SampleOrder() {
                @Override
                public long length() {
                    return order.length();
                }

                @Override
                public long row(long position) {
                    return order.row(position) % actual;
                }
            };
        }

        @Override
        public String description() {
            return "repeated permuted";
        }
    }

    /** Fails for the sample whose first pixel is the one of a row, so many times. */
    private Transform failingOn(int row, AtomicInteger times) {
        float[] wanted = new float[64];
        for (int i = 0; i < 64; i++) {
            wanted[i] = shelf.dataset.array("images").getInt(row, i / 8, i % 8);
        }
        SampleFunction failing = (values, shape, random) -> {
            if (Arrays.equals(values, wanted) && times.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new IllegalArgumentException("not this one");
            }
        };
        return new Transform().cast("<f4").map(failing);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        boolean done = false;
        while (!done) {
            try {
                done = latch.await(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                assertThat(e).isNotNull(); // a transform that takes no notice
            }
        }
    }

    private static List<Float> values(LoaderBuilder builder) {
        List<Float> values = new ArrayList<>();
        try (Loader loader = builder.build()) {
            loader.epoch(2).forEach(batch -> values.addAll(floats(batch, "images")));
        }
        return values;
    }

    private static List<Float> floats(Batch batch, String array) {
        FloatBuffer buffer = batch.array(array).byteBuffer().asFloatBuffer();
        List<Float> values = new ArrayList<>();
        while (buffer.hasRemaining()) {
            values.add(buffer.get());
        }
        return values;
    }

    @AfterEach
    void close() {
        shelf.close();
        assertThat(Shelf.gatherThreads()).isZero();
    }
}
