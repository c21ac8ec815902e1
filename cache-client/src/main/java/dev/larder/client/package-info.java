/**
 * What a trainer imports: {@link dev.larder.client.Larder} opens a {@link dev.larder.client.Dataset}, which holds one version
 * and hands out an {@link dev.larder.client.ArrayView} of each array.
 */
@NullMarked
package dev.larder.client;

import org.jspecify.annotations.NullMarked;
