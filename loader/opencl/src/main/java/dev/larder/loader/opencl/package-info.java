/**
 * Batches on OpenCL devices, through JOCL: {@link dev.larder.loader.device.Device#opencl} finds them here.
 *
 * <p>The only package that calls JOCL; {@link dev.larder.loader.opencl.OpenClDevice} is for programs that call it themselves.
 */
@NullMarked
package dev.larder.loader.opencl;

import org.jspecify.annotations.NullMarked;
