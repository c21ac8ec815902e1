/** Gloo, as PyTorch brings it, measured beside our own process groups. */
@NullMarked
package dev.larder.bench.gloo;

import org.jspecify.annotations.NullMarked;
