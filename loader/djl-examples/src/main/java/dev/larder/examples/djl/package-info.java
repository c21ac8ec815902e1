/** A trainer on cached data with DJL: {@link dev.larder.examples.djl.CnnTrainer}. */
@NullMarked
package dev.larder.examples.djl;

import org.jspecify.annotations.NullMarked;
