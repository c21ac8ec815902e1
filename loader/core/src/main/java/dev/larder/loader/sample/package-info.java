/**
 * The rows of an epoch, their order, and the rows of each batch: start at {@link dev.larder.loader.sample.Sampler} and {@link
 * dev.larder.loader.sample.BatchSampler}; {@link dev.larder.loader.sample.Subset} divides rows into parts, {@link
 * dev.larder.loader.sample.Shard} divides an epoch among ranks.
 *
 * <p>Orders are independent of threads and of the content of rows. The order for a (seed, epoch) is the same in every later release:
 * states that were saved within an epoch rely on it.
 */
@NullMarked
package dev.larder.loader.sample;

import org.jspecify.annotations.NullMarked;
