/**
 * The {@code .npy} format: element types ({@link dev.larder.npy.Dtype}) and file headers
 * ({@link dev.larder.npy.NpyHeader}), read and written without evaluating anything.
 */
@NullMarked
package dev.larder.npy;

import org.jspecify.annotations.NullMarked;
