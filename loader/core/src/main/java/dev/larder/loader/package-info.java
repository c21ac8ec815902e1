/**
 * Turns the arrays of a dataset into batches: start at {@link dev.larder.loader.Loader}.
 *
 * <pre>
 * Sampler → Plan (the rows of each batch) → gather threads fill a ring of reused slots → Batch (a slot, until closed)
 *                                                             └→ upload to a device → Batch (a device slot, until closed)
 * </pre>
 *
 * <p>Trainers use this package. The packages of {@code internal} prepare batches, in the order of the data: {@code slot},
 * {@code field} and {@code plan}, {@code ring}, {@code upload}. None of them uses a later one, or this package.
 */
@NullMarked
package dev.larder.loader;

import org.jspecify.annotations.NullMarked;
