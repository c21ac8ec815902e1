/** Measures loaders: epochs, batches, transforms, fan-out, and whole training runs beside plain rows. */
@NullMarked
package dev.larder.bench.loader;

import org.jspecify.annotations.NullMarked;
