package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import dev.larder.npy.Order;
import dev.larder.testing.FixtureArray;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
@Tag("races")
class LoaderFailureTest {
    private final Shelf shelf = Shelf.ofSamples(100, 30);

    @AfterEach
    void noThreadIsLeft() {
        shelf.close();

        assertThat(Shelf.gatherThreads()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void batchesBeforeAFailureAreDeliveredAndNoneAfterIt(int threads) {
        try (Loader loader = failingAt(50, threads)) {
            List<Long> delivered = new ArrayList<>();

            assertThatThrownBy(() -> loader.epoch(2).forEach(batch -> delivered.add(batch.number())))
                    .isInstanceOf(LarderException.class)
                    .hasMessageStartingWith("sampler failed: dataset=shelf version=1 stage=plan thread=")
                    .hasMessageContaining("epoch=2 batch=5 position=50")
                    .hasRootCauseMessage("position 50");
            assertThat(delivered).containsExactly(0L, 1L, 2L, 3L, 4L);
        }
    }

    @Test
    void failedEpochFailsAgainAndTheNextOneIsANewTry() {
        try (Loader loader = failingAt(10, 1)) {
            Iterator<Batch> batches = loader.epoch(2).iterator();
            batches.next();

            assertThatThrownBy(batches::next).isInstanceOf(LarderException.class);
            assertThatThrownBy(batches::next).isInstanceOf(LarderException.class);
            assertThat(Shelf.labels(loader.epoch(3))).hasSize(10);
        }
    }

    /** Makes batches of 10; in epoch 2 the sampler fails at a position. */
    private Loader failingAt(long position, int threads) {
        Sampler sampler = (rows, epoch) -> new Sequence(rows) {
            @Override
            public long row(long at) {
                if (epoch == 2 && at == position) {
                    throw new UnsupportedOperationException("position " + at);
                }
                return super.row(at);
            }
        };
        return Loader.over(shelf.dataset)
                .sampler(sampler)
                .batchSize(10)
                .threads(threads)
                .build();
    }

    @Test
    void rowThatDoesNotExistIsNamed() {
        Sampler beyond = (rows, epoch) -> new Sequence(rows) {
            @Override
            public long row(long position) {
                return position == 29 ? rows : 0;
            }
        };
        try (Loader loader =
                Loader.over(shelf.dataset).sampler(beyond).batchSize(10).build()) {
            assertThatThrownBy(() -> loader.epoch(0).forEach(batch -> {}))
                    .hasMessageStartingWith(
                            "sampler returned a row that does not exist: dataset=shelf version=1 stage=plan")
                    .hasMessageEndingWith("epoch=0 batch=2 position=29 row=100 rows=100");
        }
    }

    @Test
    void samplerThatFailsToOrderAnEpochIsNamed() {
        Sampler failing = (rows, epoch) -> {
            throw new UnsupportedOperationException("no order");
        };
        try (Loader loader =
                Loader.over(shelf.dataset).sampler(failing).batchSize(10).build()) {
            assertThatThrownBy(() -> loader.epoch(1))
                    .hasMessageContaining("sampler failed: dataset=shelf version=1 stage=order")
                    .hasMessageContaining("epoch=1");
        }
    }

    @Test
    void datasetClosedUnderTheLoaderIsAFailureThatNamesWhatItWasReading() {
        try (Loader loader =
                Loader.over(shelf.dataset).batchSize(10).prefetch(2).build()) {
            Iterator<Batch> batches = loader.epoch(0).iterator();
            batches.next();
            shelf.dataset.close();

            LarderException failure =
                    catchThrowableOfType(LarderException.class, () -> batches.forEachRemaining(batch -> {}));
            assertThat(failure.code()).isEqualTo(ErrorCode.REFUSED);
            assertThat(failure)
                    .hasMessageContaining("cannot gather rows: dataset=shelf version=1 stage=gather")
                    .hasMessageContaining("array=images")
                    .hasMessageEndingWith("close the loader before its dataset");
        }
    }

    @Test
    void closingIsBoundedAlsoWhenASamplerWaitsForSomething() {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        Sampler stuck = (rows, epoch) -> new Sequence(rows) {
            @Override
            public long row(long position) {
                if (Thread.currentThread().getName().startsWith("larder-gather-")) {
                    entered.countDown();
                    await(never);
                }
                return super.row(position);
            }
        };
        try (Loader loader = Loader.over(shelf.dataset)
                .sampler(stuck)
                .batchSize(10)
                .threads(1)
                .timeout(Duration.ofMillis(50))
                .build()) {
            Epoch epoch = loader.epoch(0);
            await(entered);

            assertThatThrownBy(() -> epoch.forEach(batch -> {}))
                    .hasMessageContaining("no batch within the timeout")
                    .hasMessageContaining("stage=plan");
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    @Test
    void arraysOfDifferentLengthAreRefused() {
        try (Shelf uneven = Shelf.of(Map.of("a", Shelf.labels(5), "b", Shelf.labels(4)))) {
            assertThatThrownBy(() -> Loader.over(uneven.dataset).batchSize(2).build())
                    .isInstanceOfSatisfying(
                            LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                    .hasMessageContaining("arrays of one loader differ in rows: dataset=shelf version=1 a=5 b=4");
        }
    }

    @Test
    void arraysWithoutRowsAreRefused() {
        FixtureArray scalar = FixtureArray.of("|u1", Order.C, new byte[1]);
        try (Shelf odd = Shelf.of(Map.of("scalar", scalar))) {
            assertThatThrownBy(() -> Loader.over(odd.dataset)
                            .arrays("scalar")
                            .batchSize(2)
                            .build())
                    .hasMessageContaining("array=scalar; a 0-d array has no rows");
        }
    }

    @Test
    void batchTooLongForABufferIsRefused() {
        assertThatThrownBy(() -> Loader.over(shelf.dataset)
                        .batchSize(100_000_000)
                        .threads(0)
                        .build())
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("array=images bytes=3000000000");
    }

    @Test
    void settingsThatMakeNoSenseAreRefused() {
        LoaderBuilder builder = Loader.over(shelf.dataset);

        assertThatThrownBy(builder::build).hasMessageContaining("batch size is not set");
        assertThatThrownBy(() -> builder.batchSize(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.threads(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.prefetch(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.timeout(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.arrays("labels", "labels").batchSize(1).build())
                .hasMessageContaining("named twice");
        assertThatThrownBy(() -> builder.arrays("nonsense").batchSize(1).build())
                .hasMessageContaining("no such array");
    }

    private static class Sequence implements SampleOrder {
        private final long rows;

        Sequence(long rows) {
            this.rows = rows;
        }

        @Override
        public long length() {
            return rows;
        }

        @Override
        public long row(long position) {
            return position;
        }
    }
}
