package dev.larder.server;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Tells the time in milliseconds since the epoch, as the machine's clock had it when this was made, and counts on from there by
 * itself: a clock that is set later neither ends a dataset's time to live nor makes it longer. Thread-safe.
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
