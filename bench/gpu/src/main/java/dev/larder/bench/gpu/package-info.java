/**
 * Checks a GPU and the loader on it. {@link dev.larder.bench.gpu.GpuCheck} prints each figure with the limit of the same machine, measured
 * in the same run.
 */
@NullMarked
package dev.larder.bench.gpu;

import org.jspecify.annotations.NullMarked;
