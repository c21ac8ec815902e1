/** Says which samples each batch of an epoch has. */
@NullMarked
package dev.larder.loader.internal.plan;

import org.jspecify.annotations.NullMarked;
