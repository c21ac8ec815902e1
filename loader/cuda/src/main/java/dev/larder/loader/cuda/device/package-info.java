/**
 * Batches on NVIDIA's devices, through the CUDA driver: {@link dev.larder.loader.device.Device#cuda} finds them here.
 *
 * <p>{@link dev.larder.loader.cuda.device.CudaDevice} is for programs that call CUDA themselves, {@link
 * dev.larder.loader.cuda.device.Dlpack} for frameworks. The only package that calls {@code libnvrtc}; the driver's functions are
 * declared in {@code dev.larder.loader.internal.cuda}.
 */
@NullMarked
package dev.larder.loader.cuda.device;

import org.jspecify.annotations.NullMarked;
