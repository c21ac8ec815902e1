package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class IdlenessTest {
    private long now = 1_000;
    private final Idleness idleness = new Idleness(Duration.ofSeconds(10), Duration.ofSeconds(4), () -> now);

    private boolean isOver(int afterSeconds, boolean isUsed) {
        now += Duration.ofSeconds(afterSeconds).toNanos();
        return idleness.isOverAfter(isUsed);
    }

    @Test
    void timeIsOverWhenNothingWasUsedForThatLong() {
        assertThat(isOver(4, false)).isFalse();
        assertThat(isOver(4, false)).isFalse();
        assertThat(isOver(2, false)).isTrue();
    }

    @Test
    void everyUseStartsTheClockAnew() {
        assertThat(isOver(4, false)).isFalse();
        assertThat(isOver(4, true)).isFalse();
        assertThat(isOver(4, false)).isFalse();
        assertThat(isOver(4, false)).isFalse();
        assertThat(isOver(4, false)).isTrue();
    }

    @Test
    void timeThatNobodyLookedAtDoesNotCount() {
        assertThat(isOver(3600, false)).isFalse();
        assertThat(isOver(4, false)).isFalse();
        assertThat(isOver(2, false)).isTrue();
    }
}
