package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.sample.SampleOrder;
import dev.larder.loader.sample.Sampler;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LoaderOrderTest {
    @Test
    void batchesComeInTheOrderOfTheArrayUnlessSaidOtherwise() {
        try (Shelf shelf = Shelf.ofSamples(7, 3);
                Loader loader = Loader.over(shelf.dataset).batchSize(3).build()) {
            assertThat(Shelf.labels(loader.epoch(0))).containsExactly(List.of(0, 1, 2), List.of(3, 4, 5), List.of(6));
        }
    }

    @Test
    void shuffledBatchesAreThoseOfPyTorch() {
        try (Shelf shelf = Shelf.ofSamples(10, 1);
                Loader loader =
                        Loader.over(shelf.dataset).shuffle(0).batchSize(4).build()) {
            assertThat(Shelf.labels(loader.epoch(0)))
                    .containsExactly(List.of(4, 1, 7, 5), List.of(3, 9, 0, 8), List.of(6, 2));
        }
    }

    @Test
    void shortBatchAtTheEndIsLeftOutOnDemand() {
        try (Shelf shelf = Shelf.ofSamples(7, 3);
                Loader loader =
                        Loader.over(shelf.dataset).batchSize(3).dropLast(true).build()) {
            Epoch epoch = loader.epoch(0);

            assertThat(epoch.batches()).isEqualTo(2);
            assertThat(epoch.samples()).isEqualTo(6);
            assertThat(Shelf.labels(epoch)).containsExactly(List.of(0, 1, 2), List.of(3, 4, 5));
        }
    }

    @Test
    void batchLargerThanTheArrayHoldsAllOfIt() {
        try (Shelf shelf = Shelf.ofSamples(7, 3);
                Loader loader = Loader.over(shelf.dataset).batchSize(100).build()) {
            assertThat(Shelf.labels(loader.epoch(0))).containsExactly(List.of(0, 1, 2, 3, 4, 5, 6));
        }
        try (Shelf shelf = Shelf.ofSamples(7, 3);
                Loader loader =
                        Loader.over(shelf.dataset).batchSize(100).dropLast(true).build()) {
            assertThat(Shelf.labels(loader.epoch(0))).isEmpty();
        }
    }

    @Test
    void arrayWithoutRowsGivesAnEpochWithoutBatches() {
        try (Shelf shelf = Shelf.ofSamples(0, 3);
                Loader loader =
                        Loader.over(shelf.dataset).shuffle(1).batchSize(3).build()) {
            assertThat(loader.epoch(0).batches()).isZero();
            assertThat(loader.epoch(1)).isEmpty();
        }
    }

    @Test
    void everySampleComesOnceInEveryEpoch() {
        try (Shelf shelf = Shelf.ofSamples(1001, 5);
                Loader loader = Loader.over(shelf.dataset)
                        .shuffle(3)
                        .batchSize(64)
                        .threads(3)
                        .build()) {
            for (long epoch = 0; epoch < 20; epoch++) {
                assertThat(Shelf.flat(Shelf.labels(loader.epoch(epoch))))
                        .containsExactlyInAnyOrderElementsOf(
                                IntStream.range(0, 1001).boxed().toList());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "0, 4", "1, 1", "1, 2", "2, 1", "2, 4", "4, 2", "4, 7", "8, 16"})
    void batchesAreTheSameBytesWhateverTheThreadsAndTheDepth(int threads, int depth) {
        try (Shelf shelf = Shelf.ofSamples(2000, 1500);
                Loader plain = Loader.over(shelf.dataset)
                        .shuffle(5)
                        .batchSize(256)
                        .threads(0)
                        .build();
                Loader loader = Loader.over(shelf.dataset)
                        .shuffle(5)
                        .batchSize(256)
                        .threads(threads)
                        .prefetch(depth)
                        .build()) {
            for (long epoch = 0; epoch < 5; epoch++) {
                assertThat(Shelf.checksum(loader.epoch(epoch))).isEqualTo(Shelf.checksum(plain.epoch(epoch)));
            }
        }
    }

    @Test
    void samplerMayRepeatRowsAndLeaveOthersOut() {
        Sampler everyThirdTwice = (rows, epoch) -> new SampleOrder() {
            @Override
            public long length() {
                return 2 * rows / 3;
            }

            @Override
            public long row(long position) {
                return position / 2 * 3;
            }
        };
        try (Shelf shelf = Shelf.ofSamples(9, 3);
                Loader loader = Loader.over(shelf.dataset)
                        .sampler(everyThirdTwice)
                        .batchSize(4)
                        .build()) {
            assertThat(Shelf.labels(loader.epoch(0))).containsExactly(List.of(0, 0, 3, 3), List.of(6, 6));
        }
    }

    @Test
    void batchTellsWhichRowsItHolds() {
        try (Shelf shelf = Shelf.ofSamples(10, 1);
                Loader loader =
                        Loader.over(shelf.dataset).shuffle(0).batchSize(4).build()) {
            Epoch epoch = loader.epoch(0);
            Batch batch = epoch.iterator().next();

            assertThat(batch.rows()).containsExactly(4, 1, 7, 5);
            assertThat(batch.row(2)).isEqualTo(7);
            assertThat(batch.number()).isZero();
            assertThat(batch.epoch()).isZero();
        }
    }
}
