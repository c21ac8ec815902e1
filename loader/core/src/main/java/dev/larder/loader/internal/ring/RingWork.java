package dev.larder.loader.internal.ring;

import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the work of a ring.
 *
 * @param taskRows the rows of a task
 * @param hasThreads whether there are gather threads, so that the consumer can leave reads of disks to them
 * @param consumerHelps whether the consumer runs tasks
 * @param inOrder whether the consumer gets batches in order
 * @param keepsBatches whether all batches are kept
 * @param firstSlot returns the slot of the first batch of an epoch, and later batches follow in turn; null if any slot will do
 */
record RingWork(
        int taskRows,
        boolean hasThreads,
        boolean consumerHelps,
        boolean inOrder,
        boolean keepsBatches,
        @Nullable IntSupplier firstSlot) {}
