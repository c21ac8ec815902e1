package dev.larder.loader.internal.sample;

import java.util.concurrent.CancellationException;

/**
 * Lays down an order that may turn out not to be wanted: samplers of ours give up when this thread is interrupted, and no other. For
 * loaders, which make the order of an epoch while the one before runs.
 */
public final class OrderThread extends Thread {
    /** How many rows are laid down between two looks: some hundred microseconds. */
    private static final int LOOK_MASK = (1 << 16) - 1;

    /** Makes a thread that does not keep the JVM, and has nothing of the thread that makes it. */
    public OrderThread(Runnable laying) {
        super(null, laying, "larder-order", 0, false);
        setDaemon(true);
    }

    /**
     * Returns how many bytes of heap a sampler takes at most while it lays down an order over so many rows: 0 where it lays down
     * nothing, and where a user's own code does.
     */
    public static long heapBytes(Object sampler, long rows) {
        return sampler instanceof LaidDown laidDown ? laidDown.heapBytes(rows) : 0;
    }

    /** Gives up an order that is not wanted any more; looks every so many rows. */
    public static void requireWanted(int row) {
        if ((row & LOOK_MASK) == 0 && Thread.currentThread() instanceof OrderThread thread && thread.isInterrupted()) {
            throw new CancellationException("order is not wanted any more");
        }
    }
}
