/** A trainer on cached data on an OpenCL device: {@link dev.larder.examples.opencl.MlpTrainer}. */
@NullMarked
package dev.larder.examples.opencl;

import org.jspecify.annotations.NullMarked;
