package dev.larder.message;

import java.util.concurrent.atomic.AtomicLong;

/** The number of bytes that the unfinished messages of many connections may take together. Thread-safe. */
public final class MessageBudget {
    private final AtomicLong freeBytes;

    /** Allows this many bytes. */
    public MessageBudget(long bytes) {
        freeBytes = new AtomicLong(bytes);
    }

    /** Reports that other messages take all memory. */
    public static final class Exhausted extends RuntimeException {
        private static final long serialVersionUID = 1;

        Exhausted(long bytes) {
            super("no memory for " + bytes + " bytes of a message", null, false, false);
        }
    }

    /** Takes bytes; returns false if too few are left. */
    public boolean tryTake(long bytes) {
        long free = freeBytes.get();
        while (free >= bytes) {
            if (freeBytes.compareAndSet(free, free - bytes)) {
                return true;
            }
            free = freeBytes.get();
        }
        return false;
    }

    /** Returns bytes that were taken. */
    public void giveBack(long bytes) {
        freeBytes.addAndGet(bytes);
    }
}
