/**
 * In which order an epoch visits the rows of a dataset, which of them, and which share a batch: start at
 * {@link dev.larder.loader.sample.Sampler} and {@link dev.larder.loader.sample.BatchSampler};
 * {@link dev.larder.loader.sample.Subset} divides rows into parts, {@link dev.larder.loader.sample.Shard} deals an epoch out to
 * ranks.
 *
 * <p>Orders know nothing of threads or of what is in a row, so that they compose with all of them. What was drawn for a
 * (seed, epoch) once is drawn for it in every later version too: states that were saved half way through an epoch rely on it.
 */
@NullMarked
package dev.larder.loader.sample;

import org.jspecify.annotations.NullMarked;
