/**
 * The changes to a sample between the store and the batch. Start at {@link Transform}.
 *
 * <p>A {@link dev.larder.loader.transform.Transform} is a list of {@link dev.larder.loader.transform.Step}s. Steps are data, so
 * that a device can run the same list; only {@code map} is code. This package does not depend on loaders or batches.
 */
@NullMarked
package dev.larder.loader.transform;

import org.jspecify.annotations.NullMarked;
