package dev.larder.command.signal;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts how often somebody has asked for an end. A closed terminal hangs up twice within microseconds, and others send more than
 * one signal at once: so only a repeated Ctrl-C asks again at any time, and SIGTERM or the first Ctrl-C when a second has passed
 * since somebody asked first. Takes no lock: whoever asks waits for nobody.
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

    /** Counts a signal, or whatever else asks; returns how often an end was asked for by now, 0 where this does not count. */
    public int add(String signal) {
        boolean isInterrupt = signal.equals(Signals.INTERRUPT);
        boolean isSecondInterrupt = isInterrupt && interrupts.incrementAndGet() > 1;
        Long now = nanoClock.getAsLong();
        Long first = firstNanos.compareAndExchange(null, now);
        boolean asksLater = isInterrupt || signal.equals(Signals.TERMINATE);
        boolean isAgain = isSecondInterrupt || (asksLater && first != null && now - first >= AGAIN_NANOS);
        return first == null || isAgain ? count.incrementAndGet() : 0;
    }

    /** Returns how often an end was asked for. */
    public int asked() {
        return count.get();
    }
}
