/**
 * Compiles transforms for the samples of an array, and runs them on the host or as kernels of a device.
 *
 * <pre>
 * Transform (a list of Steps: data) → SampleTransform (checked against an array) → passes over one sample's bytes
 * </pre>
 *
 * <p>Where one pass does it all, a {@link dev.larder.loader.internal.transform.SampleKernel} is the same for devices: a plan of the
 * pass, and the text that {@code KernelText} and {@code ElementText} write from it. Nothing here knows of loaders or batches.
 */
@NullMarked
package dev.larder.loader.internal.transform;

import org.jspecify.annotations.NullMarked;
