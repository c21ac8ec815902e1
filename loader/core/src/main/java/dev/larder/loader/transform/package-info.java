/**
 * What happens to a sample between the store and the batch: start at {@link dev.larder.loader.transform.Transforms}.
 *
 * <pre>
 * Transforms → Transform (a list of Steps: data) → SampleTransform (checked against an array) → passes over one sample's bytes
 * </pre>
 *
 * <p>Steps are data, so that a device can run the same list; only {@code map} is code. Where one pass does it all, a {@link
 * dev.larder.loader.transform.SampleKernel} is the same for devices: a plan of the pass, and the text that {@code KernelText} and
 * {@code ElementText} write from it. Nothing here knows of loaders or batches.
 */
@NullMarked
package dev.larder.loader.transform;

import org.jspecify.annotations.NullMarked;
