package dev.larder.command.signal;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts requests to stop. A closed terminal sends SIGHUP twice within microseconds, and other senders repeat signals. So a repeated
 * Ctrl-C always counts; SIGTERM and the first Ctrl-C count only if one second has passed since the first request. Takes no lock, so
 * signal handlers never wait.
 */
public final class StopCount {
    private static final long AGAIN_NANOS = Duration.ofSeconds(1).toNanos();

    private final LongSupplier nanoClock;
    private final AtomicReference<@Nullable Long> firstNanos = new AtomicReference<>();
    private final AtomicInteger interrupts = new AtomicInteger();
    private final AtomicInteger count = new AtomicInteger();

    public StopCount(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Counts a signal or another request. Returns the number of requests so far, or 0 if this one does not count. */
    public int add(String signal) {
        boolean isInterrupt = signal.equals(Signals.INTERRUPT);
        boolean isSecondInterrupt = isInterrupt && interrupts.incrementAndGet() > 1;
        Long now = nanoClock.getAsLong();
        Long first = firstNanos.compareAndExchange(null, now);
        boolean asksLater = isInterrupt || signal.equals(Signals.TERMINATE);
        boolean isAgain = isSecondInterrupt || (asksLater && first != null && now - first >= AGAIN_NANOS);
        return first == null || isAgain ? count.incrementAndGet() : 0;
    }

    /** Returns the number of requests. */
    public int asked() {
        return count.get();
    }
}
