/**
 * Page-locks memory of the host for trainers that upload with CUDA themselves: start at {@link
 * dev.larder.loader.cuda.PageLocking}.
 *
 * <p>The only place that calls {@code libcuda}, through JNA; nothing of it is loaded before somebody asks for locked pages.
 */
@NullMarked
package dev.larder.loader.cuda;

import org.jspecify.annotations.NullMarked;
