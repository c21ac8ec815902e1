package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SteadyClockTest {
    private static final long NS_PER_MS = 1_000_000;

    @Test
    void countsOnFromTheTimeAtWhichItWasMade() {
        AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5 * NS_PER_MS); // overflows on the way, as it may
        SteadyClock clock = new SteadyClock(1_000, nanos::get);

        nanos.addAndGet(30 * NS_PER_MS);

        assertThat(clock.getAsLong()).isEqualTo(1_030);
    }

    @Test
    void beginsAtTheMachinesTime() {
        long before = System.currentTimeMillis();

        long told = new SteadyClock().getAsLong();

        assertThat(told).isBetween(before, System.currentTimeMillis() + 1);
    }
}
