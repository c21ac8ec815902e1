/**
 * Random numbers, permutations and lists of rows for samplers and subsets. Does not import the public interfaces, which use it.
 */
@NullMarked
package dev.larder.loader.internal.sample;

import org.jspecify.annotations.NullMarked;
