package dev.larder.distributed.internal.memory;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;

/** What waits do about interrupts. */
public final class Interrupts {
    private Interrupts() {}

    /** Fails with INTERRUPTED where this thread was interrupted, which it stays. */
    public static void requireNone(String step, String name) {
        if (Thread.currentThread().isInterrupted()) {
            throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting")
                    .with("step", step)
                    .with("name", name)
                    .exception();
        }
    }
}
