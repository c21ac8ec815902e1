package dev.larder.internal.protocol;

import java.util.concurrent.atomic.AtomicLong;

/** How many bytes the unfinished frames of many connections may take together. Thread-safe. */
public final class FrameBudget {
    private final AtomicLong freeBytes;

    /** Allows this many bytes. */
    public FrameBudget(long bytes) {
        freeBytes = new AtomicLong(bytes);
    }

    boolean tryTake(long bytes) {
        long before = freeBytes.getAndUpdate(free -> free >= bytes ? free - bytes : free);
        return before >= bytes;
    }

    void giveBack(long bytes) {
        freeBytes.addAndGet(bytes);
    }
}
