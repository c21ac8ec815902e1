/**
 * Gathers batches on the host.
 *
 * <pre>
 * Plan (the rows of each batch) → gather threads fill a ring of reused slots → DeliveredBatch (a slot, until closed)
 * </pre>
 *
 * <p>Only {@code Ring} changes the states of slots, only {@code Gather} copies, and no other class runs on more than one thread.
 */
@NullMarked
package dev.larder.loader.internal.ring;

import org.jspecify.annotations.NullMarked;
