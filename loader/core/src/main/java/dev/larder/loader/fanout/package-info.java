/**
 * Hands finished batches of one process to any number of others, in Java or Python, which read them where they lie: start at
 * {@link dev.larder.loader.fanout.BatchPublisher} and {@link dev.larder.loader.fanout.SharedBatches}.
 *
 * <pre>
 * Loader → Batch → BatchPublisher → ring in the store → SharedBatches → SharedBatch (a slot, until the loop moves on)
 *                        ▲                                   │
 *                        └── Seats ◄── a page for each ◄── Seat
 * </pre>
 *
 * <p>The bytes are specified by {@link dev.larder.internal.layout.RingDescriptor}. Nobody waits on a lock or a futex in memory that
 * another can write: every wait looks now and then, and has an end.
 */
@NullMarked
package dev.larder.loader.fanout;

import org.jspecify.annotations.NullMarked;
