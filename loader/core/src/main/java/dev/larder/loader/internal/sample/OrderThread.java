package dev.larder.loader.internal.sample;

import java.util.concurrent.CancellationException;

/**
 * Computes the order of the next epoch while one runs. The order may turn out to be unnecessary: Larder's samplers stop if this thread is
 * interrupted, and ignore interrupts of other threads.
 */
public final class OrderThread extends Thread {
    /** The rows between two checks: some hundred microseconds. */
    private static final int LOOK_MASK = (1 << 16) - 1;

    /** Creates a daemon thread without inherited thread-locals. */
    public OrderThread(Runnable laying) {
        super(null, laying, "larder-order", 0, false);
        setDaemon(true);
    }

    /**
     * Returns the most bytes of heap that a sampler takes while it computes an order over this number of rows: 0 if it computes nothing
     * first, or runs user code.
     */
    public static long heapBytes(Object sampler, long rows) {
        return sampler instanceof LaidDown laidDown ? laidDown.heapBytes(rows) : 0;
    }

    /** Stops if the order is no longer needed; checks only for some rows. */
    public static void requireWanted(int row) {
        if ((row & LOOK_MASK) == 0 && Thread.currentThread() instanceof OrderThread thread && thread.isInterrupted()) {
            throw new CancellationException("order is no longer needed");
        }
    }
}
