/**
 * Gathers batches on the host.
 *
 * <pre>
 * Plan (which rows each batch has) → gather threads fill a ring of reused slots → DeliveredBatch (a slot, until closed)
 * </pre>
 *
 * <p>{@code Ring} alone knows which slot is in which state; {@code Gather} alone copies; nothing else runs on more than one
 * thread.
 */
@NullMarked
package dev.larder.loader.internal.ring;

import org.jspecify.annotations.NullMarked;
