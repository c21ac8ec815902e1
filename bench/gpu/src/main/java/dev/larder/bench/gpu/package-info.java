/**
 * Checks a GPU, and what the loader makes of it: {@link dev.larder.bench.gpu.GpuCheck} prints every figure beside the limit that the
 * machine itself showed in the same run.
 */
@NullMarked
package dev.larder.bench.gpu;

import org.jspecify.annotations.NullMarked;
