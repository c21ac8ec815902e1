package dev.larder.server.residency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.schedules.Schedules;
import dev.larder.server.store.lock.LeaseProbe;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Leases and removals inside the daemon. */
@Tag("slow")
class LeaseSchedulesTest {
    private static final Schedules LEASES =
            Schedules.of("leases and removal", 1_000, LeaseScenario.class, LeaseProbe.class, Residency.class);

    @Test
    void aVersionIsEitherLeasedOrEvictedInEveryOrder() {
        LEASES.requireSound();
    }

    @Test
    void probesThatDoNotExcludeEachOtherAreFound() {
        assertThat(LEASES.requireFound(LeaseProbe.class)).hasMessageContaining("each was kept out");
    }
}
