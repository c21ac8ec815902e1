package dev.larder.command.signal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Asks for an end in the ways that terminals, people and supervisors do. */
class StopCountTest {
    private final AtomicLong nanos = new AtomicLong(-5);
    private final StopCount stops = new StopCount(nanos::get);

    private void passes(long ms) {
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(ms));
    }

    @Test
    void aTerminalThatClosesAsksOnceHoweverOftenItHangsUp() {
        assertThat(stops.add("HUP")).isEqualTo(1);
        assertThat(stops.add("HUP")).isZero();
        passes(5000);
        assertThat(stops.add("HUP")).isZero();
        assertThat(stops.asked()).isEqualTo(1);
    }

    @Test
    void everyFurtherCtrlCCountsAtOnce() {
        assertThat(stops.add("INT")).isEqualTo(1);
        assertThat(stops.add("INT")).isEqualTo(2);
        assertThat(stops.add("INT")).isEqualTo(3);
    }

    @Test
    void terminateCountsAgainAfterASecondOnly() {
        assertThat(stops.add("TERM")).isEqualTo(1);
        passes(999);
        assertThat(stops.add("TERM")).isZero();
        passes(1);
        assertThat(stops.add("TERM")).isEqualTo(2);
    }

    @Test
    void aCtrlCThatAlsoBreaksThePipeIsOneRequest() {
        assertThat(stops.add("PIPE")).isEqualTo(1);
        assertThat(stops.add("INT")).isZero();
        assertThat(stops.add("INT")).isEqualTo(2);
    }
}
