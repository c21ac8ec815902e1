/** Ranks of one machine that work together: process groups, and what they are made of in the packages below. */
@NullMarked
package dev.larder.distributed;

import org.jspecify.annotations.NullMarked;
