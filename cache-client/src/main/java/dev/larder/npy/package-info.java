/**
 * The {@code .npy} format: element types ([dev.larder.npy.Dtype]) and file headers ([dev.larder.npy.NpyHeader]). Reading
 * evaluates no Python code.
 */
@NullMarked
package dev.larder.npy;

import org.jspecify.annotations.NullMarked;
