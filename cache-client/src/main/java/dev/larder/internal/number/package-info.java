/** Converts 16-bit numbers for which Java has no type. */
@NullMarked
package dev.larder.internal.number;

import org.jspecify.annotations.NullMarked;
