/** Reads elements of every dtype at an address; numbers of 16 bits that Java has no type for. */
@NullMarked
package dev.larder.internal.number;

import org.jspecify.annotations.NullMarked;
