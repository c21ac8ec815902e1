package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenBudgetTest {
    private static final long SEED = 77;

    @Test
    void noBatchCostsMoreThanTheBudgetAndEverySampleIsInOne() {
        Random random = new Random(SEED);
        for (int round = 0; round < 200; round++) {
            int budget = 50 + random.nextInt(500);
            int[] lengths = random.ints(random.nextInt(400), 0, 50).toArray();
            TokenBudget batches =
                    TokenBudget.of(Lengths.of(lengths)).maxTokens(budget).shuffle(round);

            long[][] rows = Visits.of(batches.order(lengths.length, round));

            for (long[] batch : rows) {
                assertThat(cost(lengths, batch)).isBetween(1L, (long) budget);
            }
            assertThat(Visits.sorted(Visits.flat(rows)))
                    .as("seed %d round %d", SEED, round)
                    .containsExactly(Visits.range(lengths.length));
        }
    }

    @Test
    void numberOfSamplesIsBoundedTooWhereItShallBe() {
        int[] lengths = new Random(SEED).ints(500, 0, 20).toArray();
        TokenBudget batches =
                TokenBudget.of(Lengths.of(lengths)).maxTokens(100).maxSamples(7).shuffle(1);

        for (long[] batch : Visits.of(batches.order(500, 0))) {
            assertThat(batch).hasSizeBetween(1, 7);
        }
    }

    @Test
    void samplesOfABatchAreAlikeInLengthSoThatLittleIsPadding() {
        int[] lengths = new Random(SEED).ints(20_000, 1, 500).toArray();
        TokenBudget batches =
                TokenBudget.of(Lengths.of(lengths)).maxTokens(8192).shuffle(1);

        long padded = 0;
        for (long[] batch : Visits.of(batches.order(20_000, 0))) {
            padded += cost(lengths, batch);
        }
        assertThat((double) Arrays.stream(lengths).sum() / padded).isGreaterThan(0.97);
    }

    @Test
    void batchIsCutOnlyWhereTheNextSampleDoesNotFit() {
        TokenBudget batches =
                TokenBudget.of(Lengths.of(4, 1, 3, 2, 5, 1)).maxTokens(6).window(6);

        assertThat(Visits.of(batches.order(6, 0))).isDeepEqualTo(new long[][] {{1, 5, 3}, {2}, {0}, {4}});
    }

    @Test
    void unshuffledWindowsComeAsRowsLie() {
        TokenBudget batches =
                TokenBudget.of(Lengths.of(3, 1, 2, 3, 1, 2)).maxTokens(6).window(3);

        assertThat(Visits.of(batches.order(6, 0))).isDeepEqualTo(new long[][] {{1, 2}, {0}, {4, 5}, {3}});
        assertThat(Visits.of(batches.order(6, 9))).isDeepEqualTo(Visits.of(batches.order(6, 0)));
    }

    @Test
    void everyEpochMakesOtherBatchesAndTheSameEpochTheSame() {
        int[] lengths = new Random(SEED).ints(2000, 1, 99).toArray();
        TokenBudget batches = TokenBudget.of(Lengths.of(lengths)).maxTokens(600).shuffle(5);

        long[][] rows = Visits.of(batches.order(2000, 3));

        assertThat(Visits.of(batches.order(2000, 3))).isDeepEqualTo(rows);
        assertThat(Visits.of(batches.order(2000, 4))).isNotEqualTo(rows);
        assertThat(Visits.of(batches.shuffle(6).order(2000, 3))).isNotEqualTo(rows);
        assertThat(rows[0].length).isNotEqualTo(rows[rows.length - 1].length);
    }

    @Test
    void sampleLongerThanTheBudgetIsRefusedWithItsRow() {
        TokenBudget batches = TokenBudget.of(Lengths.of(1, 2, 11, 3)).maxTokens(10);

        assertThatThrownBy(() -> batches.order(4, 0))
                .isInstanceOfSatisfying(
                        LarderException.class,
                        failure -> assertThat(failure.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("row=2 length=11 maxTokens=10");
    }

    @Test
    void samplesLongerThanTheBudgetAreLeftOutOnDemandAndCounted() {
        TokenBudget batches =
                TokenBudget.of(Lengths.of(1, 12, 11, 3)).maxTokens(10).leaveOutLonger();

        assertThat(Visits.of(batches.order(4, 0))).isDeepEqualTo(new long[][] {{0, 3}});
        assertThat(batches.leftOut()).isEqualTo(2);
        assertThat(batches.maxTokens(12).leftOut()).isZero();
        assertThatThrownBy(() -> TokenBudget.of(Lengths.of(1)).leftOut()).hasMessageContaining("call maxTokens");
    }

    @Test
    void sampleOfExactlyTheBudgetHasABatchOfItsOwn() {
        TokenBudget batches =
                TokenBudget.of(Lengths.of(10, 10, Integer.MAX_VALUE)).maxTokens(Integer.MAX_VALUE);

        assertThat(Visits.of(batches.order(3, 0))).isDeepEqualTo(new long[][] {{0, 1}, {2}});
    }

    @Test
    void nothingMakesNoBatch() {
        assertThat(TokenBudget.of(Lengths.of(new int[0]))
                        .maxTokens(5)
                        .shuffle(1)
                        .order(0, 0)
                        .batches())
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1})
    void limitsBelowOneAreRefused(int limit) {
        TokenBudget batches = TokenBudget.of(Lengths.of(1));

        assertThatThrownBy(() -> batches.maxTokens(limit)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> batches.maxSamples(limit)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> batches.window(limit)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> batches.order(1, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void limitsOfOneMakeBatchesOfOneSample() {
        TokenBudget batches =
                TokenBudget.of(Lengths.of(1, 0)).maxTokens(1).maxSamples(1).window(1);

        assertThat(Visits.of(batches.order(2, 0))).isDeepEqualTo(new long[][] {{0}, {1}});
    }

    @Test
    void budgetOfASubsetIsByTheLengthsOfItsRows() {
        BatchSampler batches =
                TokenBudget.of(Lengths.of(9, 1, 2, 99)).maxTokens(10).over(Subset.of(2, 0, 1));

        assertThat(Visits.of(batches.order(4, 0))).isDeepEqualTo(new long[][] {{1, 2}, {0}});
        assertThatThrownBy(() -> batches.order(2, 0)).isInstanceOf(LarderException.class);
    }

    @Test
    void lengthsOfAnotherDatasetAreRefused() {
        TokenBudget batches = TokenBudget.of(Lengths.of(1, 2)).maxTokens(10);

        assertThatThrownBy(() -> batches.order(3, 0))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("lengths=2 rows=3");
    }

    private static long cost(int[] lengths, long[] batch) {
        return batch.length
                * Math.max(
                        1,
                        Arrays.stream(batch)
                                .map(row -> lengths[(int) row])
                                .max()
                                .orElseThrow());
    }
}
