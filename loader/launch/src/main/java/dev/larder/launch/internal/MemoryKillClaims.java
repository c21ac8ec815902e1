package dev.larder.launch.internal;

import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Matches the kernel's kills for lack of memory with processes that were killed: each kill explains one death, which is noticed soon
 * after it. A kill of hours ago explains none. Thread-safe.
 */
public final class MemoryKillClaims {
    private static final long FRESH_NANOS = Duration.ofSeconds(2).toNanos();

    private final Supplier<MemoryKills> counts;
    private final LongSupplier nanoClock;
    private MemoryKills seen;
    private @Nullable String scope;
    private long left;
    private long noticedNanos;

    /** Counts from now on. */
    public MemoryKillClaims(Supplier<MemoryKills> counts, LongSupplier nanoClock) {
        this.counts = counts;
        this.nanoClock = nanoClock;
        this.seen = counts.get();
    }

    /** Counts again. Called at each start and each end, so that kills are noticed soon. */
    public synchronized void look() {
        MemoryKills now = counts.get();
        long nanos = nanoClock.getAsLong();
        if (nanos - noticedNanos > FRESH_NANOS) {
            left = 0;
        }
        String newScope = now.since(seen);
        if (newScope != null) {
            scope = newScope;
            left += now.countSince(seen);
            noticedNanos = nanos;
        }
        seen = now;
    }

    /** Returns the scope that ran out of memory, if that explains a recent kill; else null. */
    public synchronized @Nullable String claim() {
        look();
        if (left == 0) {
            return null;
        }
        left--;
        return scope;
    }
}
