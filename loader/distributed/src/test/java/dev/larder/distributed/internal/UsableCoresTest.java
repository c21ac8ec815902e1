package dev.larder.distributed.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class UsableCoresTest {
    @Test
    void listsOfProcessorsAreCounted() {
        assertThat(UsableCores.allowed(List.of("Name:\tjava", "Cpus_allowed_list:\t0-3,8,10-11")))
                .hasToString("{0, 1, 2, 3, 8, 10, 11}");
        assertThat(UsableCores.allowed(List.of("Cpus_allowed_list:\t5"))).hasToString("{5}");
        assertThatThrownBy(() -> UsableCores.allowed(List.of("Name:\tjava")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void thisMachineHasSome() {
        assertThat(UsableCores.allowed().cardinality()).isPositive();
        assertThat(UsableCores.quota()).isPositive();
    }

    @Test
    void aPartOfAProcessorCountsAsOne() {
        assertThat(UsableCores.quota("250000 100000\n")).isEqualTo(2);
        assertThat(UsableCores.quota("50000 100000\n")).isEqualTo(1);
        assertThat(UsableCores.quota("max 100000\n")).isEqualTo(Integer.MAX_VALUE);
    }
}
