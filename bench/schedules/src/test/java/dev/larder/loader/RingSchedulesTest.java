package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.internal.ring.Ring;
import dev.larder.schedules.Schedules;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The threads of a loader. */
@Tag("slow")
class RingSchedulesTest {
    private static final Schedules RING =
            Schedules.of("ring", 100, RingScenario.class, Ring.class).inVirtualTime();

    @Test
    void everyRowComesOnceAndNobodyWaitsForEverInEveryOrder() {
        RING.requireSound();
    }

    @Test
    void aRingThatIsNotGuardedIsFound() {
        assertThat(RING.requireFound(Ring.class)).isNotNull();
    }
}
