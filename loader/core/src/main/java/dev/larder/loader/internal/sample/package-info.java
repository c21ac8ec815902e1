/**
 * What samplers and subsets are computed with: random numbers, permutations, lists of rows. Knows nothing of the interfaces that
 * trainers use, so that these may use it.
 */
@NullMarked
package dev.larder.loader.internal.sample;

import org.jspecify.annotations.NullMarked;
