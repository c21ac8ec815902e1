/**
 * Page-locks memory of the host, for trainers that upload with CUDA themselves and for the CUDA backend: start at {@link
 * dev.larder.loader.internal.cuda.PageLocking}.
 *
 * <p>The only place that declares functions of {@code libcuda}, through JNA; nothing of it is loaded before somebody asks for locked
 * pages or for CUDA devices.
 */
@NullMarked
package dev.larder.loader.internal.cuda;

import org.jspecify.annotations.NullMarked;
