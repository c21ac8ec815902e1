/**
 * The API of a trainer: {@link dev.larder.client.Larder} opens a {@link dev.larder.client.Dataset}, which is one version and has an
 * {@link dev.larder.client.ArrayView} of each array.
 */
@NullMarked
package dev.larder.client;

import org.jspecify.annotations.NullMarked;
