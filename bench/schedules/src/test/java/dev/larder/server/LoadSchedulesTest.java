package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.schedules.Schedules;
import dev.larder.server.ingest.LoadJob;
import dev.larder.server.ingest.Loads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Callers that load the same dataset at the same time. */
@Tag("slow")
class LoadSchedulesTest {
    private static final Schedules LOADS =
            Schedules.of("single flight", 100, LoadScenario.class, LoadService.class, Loads.class, LoadJob.class);

    @Test
    void allCallersHaveTheSameVersionInEveryOrder() {
        LOADS.requireSound();
    }

    @Test
    void callersThatLookAndStartAtTheSameTimeAreFound() {
        assertThat(LOADS.requireFound(LoadService.class)).hasMessageContaining("already being loaded");
    }
}
