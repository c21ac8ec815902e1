/**
 * Turns the arrays of a dataset into batches: start at {@link dev.larder.loader.Loader}.
 *
 * <pre>
 * Sampler → Plan (which rows each batch has) → gather threads fill a ring of reused slots → Batch (a slot, until closed)
 *                                                             └→ upload to a device → Batch (a device slot, until closed)
 * </pre>
 *
 * <p>Here is what trainers use. What makes batches lies in {@code internal}, in rooms along the data's way: {@code slot},
 * {@code field} and {@code plan}, {@code ring}, {@code upload}. None of them uses one that comes later, or this package.
 */
@NullMarked
package dev.larder.loader;

import org.jspecify.annotations.NullMarked;
