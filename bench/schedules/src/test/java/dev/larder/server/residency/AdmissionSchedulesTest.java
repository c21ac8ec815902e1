package dev.larder.server.residency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.schedules.Schedules;
import dev.larder.server.store.space.Space;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Loads that compete for room. */
@Tag("slow")
class AdmissionSchedulesTest {
    private static final Schedules ADMISSION =
            Schedules.of("admission", 100, AdmissionScenario.class, Admission.class, Space.class, Residency.class);

    @Test
    void oneLoadHasItsRoomAndTheOtherEvictsNothingInEveryOrder() {
        ADMISSION.requireSound();
    }

    @Test
    void loadsThatAreDecidedAtTheSameTimeAreFound() {
        assertThat(ADMISSION.requireFound(Admission.class)).isInstanceOf(AssertionError.class);
    }
}
