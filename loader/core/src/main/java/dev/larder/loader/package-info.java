/**
 * Turns the arrays of a dataset into batches: start at {@link dev.larder.loader.Loader}.
 *
 * <pre>
 * Sampler → Plan (which rows each batch has) → gather threads fill a ring of reused slots → Batch (a slot, until closed)
 * </pre>
 *
 * <p>{@code Ring} alone knows which slot is in which state; {@code Gather} alone copies; nothing else runs on more than one
 * thread.
 */
@NullMarked
package dev.larder.loader;

import org.jspecify.annotations.NullMarked;
