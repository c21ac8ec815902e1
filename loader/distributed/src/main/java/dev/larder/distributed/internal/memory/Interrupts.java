package dev.larder.distributed.internal.memory;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;

/** Handles interrupts of waits. */
public final class Interrupts {
    private Interrupts() {}

    /** Fails with INTERRUPTED if this thread is interrupted, and keeps its flag. */
    public static void requireNone(String step, String name) {
        if (Thread.currentThread().isInterrupted()) {
            throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while waiting")
                    .with("step", step)
                    .with("name", name)
                    .exception();
        }
    }
}
