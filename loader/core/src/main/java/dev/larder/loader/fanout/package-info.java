/**
 * Publishes finished batches of one process to any number of others, in Java or Python, which read them in place: start at {@link dev.larder.loader.fanout.BatchPublisher} and {@link dev.larder.loader.fanout.SharedBatches}.
 *
 * <pre>
 * Loader → Batch → BatchPublisher → ring in the store → SharedBatches → SharedBatch (a slot, until the loop moves on)
 *                        ▲                                   │
 *                        └── Seats ◄── a page for each ◄── Seat
 * </pre>
 *
 * <p>{@link dev.larder.internal.layout.RingDescriptor} specifies the bytes. No process waits on a lock or a futex in memory that another
 * process can write: every wait polls, and has a time limit.
 */
@NullMarked
package dev.larder.loader.fanout;

import org.jspecify.annotations.NullMarked;
