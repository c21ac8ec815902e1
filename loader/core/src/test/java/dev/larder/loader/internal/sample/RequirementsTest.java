package dev.larder.loader.internal.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import org.junit.jupiter.api.Test;

class RequirementsTest {
    private static final int LONGEST = Integer.MAX_VALUE - 8;

    @Test
    void anArrayHasAtMostAsManyElementsAsEveryJvmAllocates() {
        assertThat(Requirements.arrayLength("weights", 0)).isZero();
        assertThat(Requirements.arrayLength("weights", LONGEST)).isEqualTo(LONGEST);
        assertThatThrownBy(() -> Requirements.arrayLength("weights", LONGEST + 1L))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("too many weights: count=2147483640 max=2147483639");
    }

    @Test
    void theLastRowOfASubsetIsARowOfTheDataset() {
        RowList subset = new RangeRows(3, 4);

        assertThatNoException().isThrownBy(() -> Requirements.rows(subset, 7));
        assertThatThrownBy(() -> Requirements.rows(subset, 6))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("subset=range(first=3 count=4) rows=6");
    }
}
