/**
 * The {@code .npy} format: element types ({@link dev.larder.npy.Dtype}) and file headers ({@link dev.larder.npy.NpyHeader}). Reading
 * evaluates no Python code.
 */
@NullMarked
package dev.larder.npy;

import org.jspecify.annotations.NullMarked;
