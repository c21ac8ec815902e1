/** Plans the samples of each batch of an epoch. */
@NullMarked
package dev.larder.loader.internal.plan;

import org.jspecify.annotations.NullMarked;
