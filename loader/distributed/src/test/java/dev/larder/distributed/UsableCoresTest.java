package dev.larder.distributed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class UsableCoresTest {
    @Test
    void listsOfProcessorsAreCounted() {
        assertThat(UsableCores.allowed(List.of("Name:\tjava", "Cpus_allowed_list:\t0-3,8,10-11")))
                .isEqualTo(7);
        assertThat(UsableCores.allowed(List.of("Cpus_allowed_list:\t5"))).isEqualTo(1);
        assertThatThrownBy(() -> UsableCores.allowed(List.of("Name:\tjava")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void thisMachineHasSome() {
        assertThat(UsableCores.count()).isPositive();
    }
}
