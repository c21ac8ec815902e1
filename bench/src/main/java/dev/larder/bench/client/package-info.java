/** Measures opening and reading of arrays, alone and among many or disturbed readers. */
@NullMarked
package dev.larder.bench.client;

import org.jspecify.annotations.NullMarked;
