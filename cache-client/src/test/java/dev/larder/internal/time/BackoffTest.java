package dev.larder.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BackoffTest {
    @Test
    void pausesDoubleUpToTheLongest() {
        Backoff backoff = new Backoff(Duration.ofMillis(5), Duration.ofMillis(50));

        assertThat(LongStream.generate(backoff::nextMillis).limit(6)).containsExactly(5L, 10L, 20L, 40L, 50L, 50L);
    }

    @Test
    void deadlinesOfPausesGrowToo() {
        Backoff backoff = new Backoff(Duration.ofSeconds(3), Duration.ofSeconds(10));

        assertThat(Stream.generate(backoff::next).limit(4).map(Deadline::timeout))
                .containsExactly(
                        Duration.ofSeconds(3), Duration.ofSeconds(6), Duration.ofSeconds(10), Duration.ofSeconds(10));
    }

    @Test
    void noPauseIsLongerThanThereIsTime() {
        Backoff backoff = new Backoff(Duration.ofDays(1), Duration.ofDays(2));

        assertThat(backoff.pause(Deadline.after(Duration.ZERO))).isTrue();
        assertThat(backoff.pause(Deadline.after(Duration.ofMillis(1)))).isTrue();
    }

    @Test
    void anInterruptEndsThePauseAndIsKept() {
        Backoff backoff = new Backoff(Duration.ofDays(1), Duration.ofDays(1));
        Thread.currentThread().interrupt();

        boolean isUninterrupted = backoff.pause(Deadline.none());

        assertThat(Thread.interrupted()).isTrue();
        assertThat(isUninterrupted).isFalse();
    }
}
