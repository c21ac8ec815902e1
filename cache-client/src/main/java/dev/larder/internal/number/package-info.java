/** Converts 16-bit numbers that Java has no type for. */
@NullMarked
package dev.larder.internal.number;

import org.jspecify.annotations.NullMarked;
