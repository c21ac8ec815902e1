/** Example trainers on cached data: start at {@link dev.larder.examples.SoftmaxTrainer}. */
@NullMarked
package dev.larder.examples;

import org.jspecify.annotations.NullMarked;
