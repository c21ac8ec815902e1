package dev.larder.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeadlineTest {
    @Test
    void thereIsTimeLeftUntilItIsOver() {
        Deadline deadline = Deadline.after(Duration.ofHours(1));

        assertThat(deadline.isOver()).isFalse();
        assertThat(deadline.remaining()).isBetween(Duration.ofMinutes(59), Duration.ofHours(1));
        assertThat(deadline.remainingMillis()).isBetween(59 * 60_000L, 60 * 60_000L + 1);
        assertThat(deadline.timeout()).isEqualTo(Duration.ofHours(1));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void aWaitOfNoLengthIsOverAtOnceAndNeverTakenForOneWithoutAnEnd(long seconds) {
        Deadline deadline = Deadline.after(Duration.ofSeconds(seconds));

        assertThat(deadline.isOver()).isTrue();
        assertThat(deadline.remainingNanos()).isZero();
        assertThat(deadline.remaining()).isZero();
        assertThat(deadline.remainingMillis()).isOne();
    }

    @ParameterizedTest
    @ValueSource(longs = {3_153_600_000L, 9_223_372_037L, Long.MAX_VALUE})
    void whatIsTooLongForANumberHasNoEnd(long seconds) {
        Duration timeout = Duration.ofSeconds(seconds);

        assertThat(Deadline.nanos(timeout)).isEqualTo(Deadline.FOREVER.toNanos());
        assertThat(Deadline.after(timeout).remaining()).isGreaterThan(Duration.ofDays(36_499));
        assertThat(Deadline.after(timeout).timeout()).isEqualTo(timeout);
    }

    @Test
    void noneIsNeverOver() {
        assertThat(Deadline.none().isOver()).isFalse();
        assertThat(Deadline.none().remaining()).isGreaterThan(Duration.ofDays(36_499));
    }
}
