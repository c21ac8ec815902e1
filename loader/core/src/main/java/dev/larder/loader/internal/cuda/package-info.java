/**
 * Page-locks host memory, for the CUDA backend and for trainers that upload with CUDA themselves: start at {@link
 * dev.larder.loader.internal.cuda.PageLocking}.
 *
 * <p>Only this package declares functions of {@code libcuda}, through JNA. The library is loaded when a caller first requests locked
 * pages or CUDA devices.
 */
@NullMarked
package dev.larder.loader.internal.cuda;

import org.jspecify.annotations.NullMarked;
