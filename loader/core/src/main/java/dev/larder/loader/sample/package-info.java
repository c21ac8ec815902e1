/**
 * In which order an epoch visits the rows of a dataset: start at {@link dev.larder.loader.sample.Sampler}.
 *
 * <p>Nothing here knows of batches, threads or arrays, so that every order composes with all of them.
 */
@NullMarked
package dev.larder.loader.sample;

import org.jspecify.annotations.NullMarked;
