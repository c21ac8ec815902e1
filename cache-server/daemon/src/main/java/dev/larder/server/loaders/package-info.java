/**
 * The live loaders of a store: {@link dev.larder.server.loaders.LoaderWatch} samples their counters, and {@link
 * dev.larder.server.loaders.Bottleneck} names the cause that limits each.
 */
@NullMarked
package dev.larder.server.loaders;

import org.jspecify.annotations.NullMarked;
