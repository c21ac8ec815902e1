package dev.larder.loader.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import org.junit.jupiter.api.Test;

class SubsetTest {
    @Test
    void listedRowsComeAsListedAndMayRepeat() {
        long[] rows = {7, 3, 3, 1L << 40};
        Subset subset = Subset.of(rows);
        rows[0] = 99;

        assertThat(Visits.of(subset)).containsExactly(7, 3, 3, 1L << 40);
        assertThat(subset.end()).isEqualTo((1L << 40) + 1);
        assertThat(Subset.of().size()).isZero();
        assertThat(Subset.of().end()).isZero();
    }

    @Test
    void rangeTakesNoMemoryHoweverLongItIs() {
        Subset subset = Subset.range(1L << 40, 1L << 50);

        assertThat(subset.row((1L << 50) - 1)).isEqualTo((1L << 40) + (1L << 50) - 1);
        assertThat(subset.end()).isEqualTo((1L << 40) + (1L << 50));
    }

    @Test
    void rowsBelowZeroAreRefused() {
        assertThatThrownBy(() -> Subset.of(4, -1)).hasMessageContaining("place=1 row=-1");
        assertThatThrownBy(() -> Subset.range(-1, 3)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Subset.range(3, -1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Subset.range(Long.MAX_VALUE, 1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void placesOutsideAreRefused() {
        Subset whole = Subset.range(0, 10);
        for (Subset subset : new Subset[] {
            Subset.of(1, 2, 3),
            Subset.range(5, 3),
            Subset.split(6, 1, 0.5, 0.5).get(0),
            Subset.kFold(4, 4, 1).get(2).training(),
            Subset.of(1, 2, 3).within(whole),
        }) {
            assertThat(subset.size()).isEqualTo(3);
            assertThatThrownBy(() -> subset.row(-1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> subset.row(3)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void subsetOfASubsetHasRowsOfTheOuterOne() {
        Subset outer = Subset.of(10, 20, 30, 40);

        assertThat(Visits.of(Subset.of(3, 0).within(outer))).containsExactly(40, 10);
        assertThatThrownBy(() -> Subset.of(4).within(outer)).isInstanceOf(LarderException.class);
    }

    @Test
    void theEndIsOneMoreThanTheLargestRowThatASubsetMayHave() {
        assertThat(Subset.split(10, 1, 0.5, 0.5).get(0).end()).isEqualTo(10);
        assertThat(Subset.kFold(10, 5, 1).get(2).training().end()).isEqualTo(10);
        assertThat(Subset.split(Labels.of(1, 2, 1, 2), 1, 0.5, 0.5).get(1).end())
                .isEqualTo(4);
        assertThat(Subset.of(1, 0).within(Subset.of(7, 5, 9)).end()).isEqualTo(10);
        assertThat(Subset.range(3, 0).end()).isEqualTo(3);
    }

    @Test
    void everySamplerVisitsTheSubsetsRowsOnly() {
        Subset subset = Subset.of(5, 50, 500);
        for (Sampler sampler : new Sampler[] {Sampler.sequential(), Sampler.random(1), Sampler.permuted(1)}) {
            assertThat(Visits.sorted(Visits.of(sampler.over(subset), 501, 2))).containsExactly(5, 50, 500);
        }
        assertThat(Visits.of(Sampler.sequential().over(subset), 501, 0)).containsExactly(5, 50, 500);
    }

    @Test
    void restrictingTwiceNestsTheSubsets() {
        Subset inner = Subset.of(2, 0);
        Subset outer = Subset.of(10, 20, 30);

        assertThat(Visits.of(Sampler.sequential().over(inner).over(outer), 31, 0))
                .containsExactly(Visits.of(Sampler.sequential().over(inner.within(outer)), 31, 0))
                .containsExactly(30, 10);
    }

    @Test
    void subsetOfAnotherDatasetIsRefused() {
        Sampler sampler = Sampler.sequential().over(Subset.range(90, 20));

        assertThatThrownBy(() -> sampler.order(100, 0))
                .isInstanceOfSatisfying(
                        LarderException.class,
                        failure -> assertThat(failure.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("subset=range(first=90 count=20) rows=100");
    }

    @Test
    void descriptionsTellWhatIsChosen() {
        Sampler random = Sampler.random(42);
        assertThat(random.description()).isEqualTo("random(seed=42)");
        assertThat(Sampler.permuted(-1).description()).isEqualTo("permuted(seed=-1)");
        assertThat(random.over(Subset.range(1, 2)).description())
                .isEqualTo("random(seed=42) over range(first=1 count=2)");
        assertThat(Subset.of(1, 2).description()).isNotEqualTo(Subset.of(2, 1).description());
        assertThat(Subset.split(10, 3, 0.8, 0.2).get(1).description()).isEqualTo("permuted(rows=10 seed=3)[8:10]");
        assertThat(Subset.kFold(10, 5, 3).get(1).training().description())
                .isEqualTo("permuted(rows=10 seed=3)[:2, 4:]");
    }
}
