package dev.larder.server;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A clock in milliseconds since the epoch that reads the machine's clock once and then counts by itself: changing the machine's clock
 * neither shortens nor extends a dataset's time to live. Thread-safe.
 */
final class SteadyClock implements LongSupplier {
    private final long startEpochMs;
    private final long startNanoTime;
    private final LongSupplier nanoTime;

    SteadyClock() {
        this(System.currentTimeMillis(), System::nanoTime);
    }

    SteadyClock(long startEpochMs, LongSupplier nanoTime) {
        this.startEpochMs = startEpochMs;
        this.startNanoTime = nanoTime.getAsLong();
        this.nanoTime = nanoTime;
    }

    @Override
    public long getAsLong() {
        return startEpochMs + TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - startNanoTime);
    }
}
