/**
 * Compiles transforms for the samples of an array, and runs them on the host or as kernels of a device.
 *
 * <pre>
 * Transform (a list of Steps: data) → SampleTransform (checked against an array) → passes over one sample's bytes
 * </pre>
 *
 * <p>If one pass does all steps, a {@link dev.larder.loader.internal.transform.SampleKernel} does the same on devices: a plan of
 * the pass, and its text from {@code KernelText} and {@code ElementText}. This package does not depend on loaders or batches.
 */
@NullMarked
package dev.larder.loader.internal.transform;

import org.jspecify.annotations.NullMarked;
